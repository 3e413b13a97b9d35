"""Would catch a strategy that can no longer draw what the engines must be tested on: an operator, a window, a trap."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from strategies.catalog import catalog, catalog_of
from strategies.histories import histories
from strategies.plans import OPERATORS, cases, plans
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    IStream,
    Join,
    JoinKind,
    Negation,
    NrrJoin,
    Plan,
    RelationScan,
    RStream,
    SemiJoin,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

quick = settings(max_examples=5_000, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))

KINDS = get_args(Plan)
WINDOWS = [Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange]


def drawn(wanted: Callable[[Plan], bool], root: str | None = None) -> Plan:
    return find(plans(root=root), wanted, settings=quick, random=random.Random(1))


def over(node: Plan, kind: type[Plan]) -> bool:
    return any(isinstance(below, kind) for child in node.children for below in child.walk())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_operator_is_drawn(kind: type[Plan]) -> None:
    assert isinstance(drawn(lambda plan: any(isinstance(n, kind) for n in plan.walk())), Plan)


@pytest.mark.parametrize("derived", [False, True])
@pytest.mark.parametrize("kind", WINDOWS)
def test_every_window_is_drawn_over_a_stream_and_over_a_derived_one(kind: type[Window], derived: bool) -> None:
    def wanted(n: Plan) -> bool:
        return isinstance(n, Windowed) and isinstance(n.window, kind) and bool(n.child.children) is derived

    drawn(lambda plan: any(map(wanted, plan.walk())))


def windows_of(n: Join) -> set[type[Window]]:
    return {type(child.window) for child in n.children if isinstance(child, Windowed)}


@pytest.mark.parametrize(
    "trap",
    [
        lambda n: isinstance(n, Negation) and not n.compares_rows and over(n, Join),
        lambda n: isinstance(n, Join) and isinstance(n.left, Negation) and bool(n.equalities),
        lambda n: isinstance(n, SemiJoin) and n.anti and over(n, Join),
        lambda n: isinstance(n, GroupBy) and not n.keys and isinstance(n.child, Windowed),
        lambda n: isinstance(n, GroupBy) and isinstance(n.child, Windowed) and isinstance(n.child.window, Landmark),
        lambda n: isinstance(n, Distinct) and over(n, Windowed),
        lambda n: isinstance(n, Windowed) and over(n, IStream),
        lambda n: isinstance(n, IStream) and isinstance(n.child, Join),
        lambda n: isinstance(n, RStream) and isinstance(n.child, Windowed) and isinstance(n.child.window, Now),
        lambda n: isinstance(n, Join) and isinstance(n.right, RelationScan),
        lambda n: isinstance(n, NrrJoin) and n.kind is JoinKind.LEFT and isinstance(n.left, Distinct),
        lambda n: isinstance(n, Join) and windows_of(n) == {Range, Rows},
    ],
    ids=[
        "negation above a join", "join above a negation", "anti-join above a join", "global aggregate",
        "aggregate over a landmark", "distinct over a window", "window over istream", "istream of a join",
        "rstream of now", "retroactive relation", "NRR join over distinct", "diverse windows",
    ],
)  # fmt: skip
def test_the_traps_are_drawn(trap: Callable[[Plan], bool]) -> None:
    drawn(lambda plan: any(map(trap, plan.walk())))


def test_aggregates_of_users_are_drawn_only_where_they_can_be_run() -> None:
    def has_one(plan: Plan) -> bool:
        return any(a.aggregate.user is not None for n in plan.walk() if isinstance(n, GroupBy) for a in n.aggregates)

    find(plans(root="distinct"), has_one, settings=quick, random=random.Random(1))
    with pytest.raises(NoSuchExample):
        find(
            plans(root="group-by", in_sql=True),
            has_one,
            settings=settings(quick, max_examples=200),
            random=random.Random(1),
        )


def test_pulling_a_negation_above_a_join_is_found_out() -> None:
    """Figure 6 of GolabOzsu2005 as a rewrite, without its condition: drawn cases must show that answers differ."""

    def differs(case: tuple[Plan, History]) -> bool:
        plan, history = case
        if not (isinstance(plan, Join) and isinstance(plan.left, Negation) and plan.kind is JoinKind.INNER):
            return False
        pulled_up = Negation(plan.with_children(plan.left.left, plan.right), plan.left.right, plan.left.on)
        return Reference(plan, history).answer(history.last) != Reference(pulled_up, history).answer(history.last)

    find(cases(root="join", size=3), differs, settings=quick, random=random.Random(1))


@pytest.mark.parametrize("root", OPERATORS)
def test_answers_are_not_always_empty(root: str) -> None:
    def lively(case: tuple[Plan, History]) -> bool:
        plan, history = case
        states = [Reference(plan, history).answer(t) for t in (history.last - 2, history.last)]
        return history.size > 3 and all(states) and states[0] != states[1]

    find(cases(root=root), lively, settings=quick, random=random.Random(1))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda h: len({a.ts for a in h.stream("s")}) < len(h.stream("s")),
        lambda h: len(h.stream("s")) > 1 and h.stream("s")[-1].ts - h.stream("s")[0].ts > 20,
        lambda h: any(None in a.row for a in h.stream("u")),
        lambda h: len(h.stream("s")) - len({a.row for a in h.stream("s")}) > 2,
        lambda h: any(u.sign < 0 for u in h.updates("r")) and any(u.sign < 0 for u in h.updates("n")),
        lambda h: {u.t for u in h.updates("n") if u.sign < 0} & {u.t for u in h.updates("n") if u.sign > 0},
        lambda h: h.size == 0,
    ],
    ids=["ties", "silence", "NULLs", "repeated rows", "deletes", "an update of an NRR", "nothing at all"],
)
def test_histories_have_all_that_can_happen(wanted: Callable[[History], bool]) -> None:
    find(histories(catalog()), lambda h: bool(wanted(h)), settings=quick, random=random.Random(1))


def test_a_plans_catalogue_holds_what_it_reads() -> None:
    plan = drawn(lambda plan: len(catalog_of(plan).names) == 3)
    leaves = {leaf.detail for leaf in plan.walk() if not leaf.children}
    assert set(catalog_of(plan).names) == leaves
