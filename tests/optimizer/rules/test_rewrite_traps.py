"""Would catch a rewrite that follows the papers where they are imprecise, or a driver that misapplies a right rule."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cql.catalogue import outline, plan_of
from kernel.test_against_reference import allowed
from reference.by_hand import NRR, STREAMS, TABLE, equal, history_of, over, rows
from strategies.windows import logical_windows
from thalweg.algebra.expressions import FALSE, Aggregate, Literal, call, column
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    IStream,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow, PartitionedRows, Range, Rows
from thalweg.core.errors import PlanError, WindowError
from thalweg.core.rows import Dated
from thalweg.optimizer import RULES, Rule, rewrite
from thalweg.optimizer.rules.empty_inputs import is_empty
from thalweg.optimizer.rules.joins import commute_join
from thalweg.patterns import derive
from thalweg.reference.operators import distinct


def test_a_negation_that_counts_stays_below_its_join() -> None:
    """Two left rows, one right row, two partners: (2 - 1) x 2 = 2 pushed down, 2 x 2 - 1 = 3 pulled up."""
    s, t, u = over("s", Range(9)), over("t", Range(9)), over("u", Range(9))
    negation = Negation(s, t, ((0, 0),))
    pushed_down = Join(negation, u, equal(negation, 0, u, 0))
    pulled_up = Negation(Join(s, u, equal(s, 0, u, 0)), t, ((0, 0),))
    history = history_of(s=[(1, (1, 1)), (1, (1, 2))], t=[(1, (1, 0))], u=[(1, (1, 0.5, "a")), (1, (1, 0.5, "b"))])
    assert [len(rows(plan, history, 1)) for plan in (pushed_down, pulled_up)] == [2, 3]
    steps = rewrite(pushed_down).steps
    assert not any("pull" in step.rule.name for step in steps)
    assert len(rows(rewrite(pushed_down).plan, history, 1)) == 2


def test_one_left_row_is_not_enough_if_it_has_two_partners() -> None:
    one = Windowed(STREAMS["s"], PartitionedRows((0,), 1))
    negation, u = Negation(one, over("t", Range(9)), ((0, 0),)), over("u", Range(9))
    plan = Join(negation, u, equal(negation, 0, u, 0))
    history = history_of(s=[(1, (1, 1))], t=[(1, (1, 0))], u=[(1, (1, 0.5, "a")), (1, (1, 0.5, "b"))])
    assert rows(rewrite(plan).plan, history, 1) == rows(plan, history, 1) == []


def test_both_plans_of_figure_6_in_anti_join_form_become_one() -> None:
    below = plan_of(
        "SELECT q.a, x FROM (SELECT * FROM s [RANGE 9] "
        "WHERE NOT EXISTS (SELECT 1 FROM r [RANGE 3] p WHERE p.a = s.a)) q JOIN r [RANGE 9] ON q.a = r.a"
    )
    above = plan_of(
        "SELECT s.a, x FROM s [RANGE 9] JOIN r [RANGE 9] ON s.a = r.a "
        "WHERE NOT EXISTS (SELECT 1 FROM r [RANGE 3] p WHERE p.a = s.a)"
    )
    assert rewrite(below).plan == rewrite(above).plan


def test_an_nrr_join_above_a_not_exists_can_run_once_it_is_pulled_up() -> None:
    s, t = over("s", Range(9)), over("t", Range(9))
    anti = SemiJoin(s, t, equal(s, 0, t, 0), anti=True)
    plan = NrrJoin(anti, NRR, equal(anti, 0, NRR, 0))
    assert not allowed(plan) and allowed(rewrite(plan).plan)


def test_a_side_that_lost_its_stream_does_not_get_the_plan_refused() -> None:
    s, t = over("s", Range(9)), over("t", Range(9))
    top = TopK(s, (), 3)
    keys = Project(TABLE, (Named(column(TABLE.schema, 0), "k"),))
    nothing = Select(Project(t, (Named(column(t.schema, 0), "k"),)), FALSE)
    mixed = Union(keys, nothing)
    plan = Join(top, mixed, equal(top, 0, mixed, 0))
    assert allowed(plan) and not allowed(Join(top, keys, equal(top, 0, keys, 0)))
    assert rewrite(plan).plan == plan


def test_a_global_aggregate_over_nothing_is_one_row() -> None:
    plan = plan_of("SELECT COUNT(*), MAX(a) FROM s [RANGE 9] WHERE a = 1 AND a = 2")
    found = rewrite(plan).plan
    assert isinstance(found, GroupBy) and is_empty(found.child)
    assert rows(found, history_of(s=[(1, (1, "a", 0.5))]), 5) == [(0, None)]


def test_an_empty_plan_over_a_relation_is_no_stronger_than_the_groups_that_it_replaces() -> None:
    count = GroupBy(TABLE, (), (NamedAggregate(Aggregate.of("count"), "n"),))
    plan = Select(count, FALSE)
    found = rewrite(plan).plan
    assert is_empty(found) and not any(isinstance(node, GroupBy) for node in found.walk())
    assert derive(found).pattern <= derive(plan).pattern


def test_an_outer_join_with_nothing_is_filled_with_nulls() -> None:
    plan = plan_of("SELECT s.a, x FROM s [RANGE 9] LEFT JOIN (SELECT * FROM r WHERE a > 3 AND a < 2) q ON s.a = q.a")
    found = rewrite(plan).plan
    assert outline(found) == "Window[[RANGE 9]](Project[a, NULL AS x](StreamScan[s]))"


def test_nothing_of_tables_alone_is_no_stream() -> None:
    plan = Windowed(IStream(Select(TABLE, FALSE)), Range(3))
    assert rewrite(plan).plan == plan


def test_what_cannot_be_folded_away_is_not_asked_again() -> None:
    """The right sides are empty, but their joins must stay: for the order they give, and to be a stream."""
    s = STREAMS["s"]
    below = Select(s, call("<", column(s.schema, 0), Literal(1, s.schema[0].type)))
    met = NrrJoin(below, Select(NRR, FALSE), equal(below, 0, NRR, 0), JoinKind.LEFT)
    assert any(isinstance(node, NrrJoin) for node in rewrite(Windowed(met, Rows(2))).plan.walk())
    none = IStream(Select(TABLE, FALSE))
    assert isinstance(rewrite(Join(below, none, equal(below, 0, none, 0))).plan, Join)


def test_a_window_that_counts_sees_its_stream_in_the_order_it_was_in() -> None:
    """A union's tuples of one instant come by value, those of the stream itself by arrival."""
    s = STREAMS["s"]
    union = Union(s, Select(s, FALSE))
    history = history_of(s=[(1, (2, 0)), (1, (1, 0))])
    counted = Windowed(union, Rows(1))
    assert rows(rewrite(counted).plan, history, 1) == rows(counted, history, 1) == [(2, 0)]
    assert rows(Windowed(s, Rows(1)), history, 1) == [(1, 0)]
    assert rewrite(Windowed(union, Range(3))).plan == Windowed(s, Range(3))


def test_dates_that_a_negation_reads_keep_groups_groups() -> None:
    s, t = over("s", Range(5)), over("t", Range(5))
    groups = GroupBy(s, (Named(column(s.schema, 0), "k"),), ())
    assert isinstance(rewrite(groups).plan, Distinct)
    key, one = column(groups.schema, 0), Literal(1, s.schema[0].type)
    counted = rewrite(Negation(Project(groups, (Named(one, "one"), Named(key, "k"))), t, ((0, 1),))).plan
    assert any(isinstance(node, GroupBy) for node in counted.walk())


@given(
    logical_windows(), st.lists(st.tuples(st.integers(0, 12), st.sampled_from("ab")), max_size=8), st.integers(0, 20)
)
def test_duplicates_and_logical_windows_commute_for_latest_appearances(
    window: LogicalWindow, arrivals: list[tuple[int, str]], t: int
) -> None:
    """delta(W(S)) = W(delta(S)) (PatroumpasSellis2011 §5), as an equation on contents: delta(S) is no stream here."""
    seen = [Dated((value,), ts) for ts, value in sorted(arrivals) if ts <= t]
    inside = [d for d in seen if d.ts in window.scope(t)]
    latest = [d for d in distinct([d for d in seen if d.ts <= window.scope(t).last]) if d.ts in window.scope(t)]
    assert Counter(d.row for d in distinct(inside)) == Counter(d.row for d in latest)


def test_with_first_appearances_they_do_not() -> None:
    """x at 1 and at 5: at 7 `[RANGE 4]` shows it, though it first appeared long before."""
    scope = Range(4).scope(7)
    assert 5 in scope and 1 not in scope
    with pytest.raises(WindowError, match="a window needs a stream, but Distinct gives a relation"):
        Windowed(Distinct(STREAMS["s"]), Range(4))


def test_rules_that_undo_each_other_are_stopped() -> None:
    s, t = over("s", Range(5)), over("t", Range(5))
    back_and_forth = Rule("commute join", commute_join, "for ever")
    with pytest.raises(PlanError, match="the rewrite rules commute join and commute join do not come to an end"):
        rewrite(Join(s, t, equal(s, 0, t, 0)), [back_and_forth])


def test_a_rule_that_changes_columns_is_refused() -> None:
    def drop(plan: Plan) -> Plan | None:
        return plan.child if isinstance(plan, Project) else None

    plan = plan_of("SELECT a FROM s [NOW]")
    with pytest.raises(PlanError, match="the rule drop turned the columns"):
        rewrite(plan, [Rule("drop", drop, "a projection goes")])


def test_names_of_rules_are_theirs_alone() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.name == rule.apply.__name__.replace("_", " ") for rule in RULES)


def test_sub_plans_that_differ_in_words_become_equal() -> None:
    plan = plan_of(
        "SELECT * FROM (SELECT a FROM s [RANGE 1] WHERE a > 1 AND b = 'x' AND a > 0) p "
        "JOIN (SELECT a FROM s [NOW] WHERE 'x' = b AND NOT a <= 1) q ON p.a = q.a"
    )
    found = rewrite(plan).plan
    assert isinstance(found, Join) and found.left == found.right


def test_an_aggregate_is_counted_over_what_its_argument_was() -> None:
    s = over("s", Range(5))
    doubled = Project(s, (Named(call("*", column(s.schema, 1), Literal(2, s.schema[1].type)), "w"),))
    total = GroupBy(doubled, (), (NamedAggregate(Aggregate.of("sum", column(doubled.schema, 0)), "total"),))
    history = history_of(s=[(1, (1, 3)), (2, (1, 4))])
    assert rows(rewrite(total).plan, history, 2) == [(14,)]
