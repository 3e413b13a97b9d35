"""Would catch an alternative that gives another answer, and a choice that costs more than it must."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import thalweg as tw
from kernel.test_against_reference import AFTERWARDS, allowed
from reference.oracle.tables import close
from strategies.effort import examples
from strategies.plans import OPERATORS, cases
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Distinct, Join, MultiJoin, Plan, SemiJoin, drawn
from thalweg.algebra.statistics import SourceStatistics
from thalweg.cql import compile_script
from thalweg.explain import choice_json, choice_text, plans_text
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.blueprint import choose
from thalweg.optimizer.alternatives import alternatives
from thalweg.optimizer.estimates import ExpiryApproach
from thalweg.optimizer.optimize import Optimized, optimize
from thalweg.optimizer.statistics import Statistics
from thalweg.reference.evaluate import Reference

STREAMS = """
CREATE STREAM a (k INT DISTINCT 100, x INT) RATE 10;
CREATE STREAM b (k INT DISTINCT 100, x INT) RATE 1;
CREATE STREAM c (k INT DISTINCT 10, x INT) RATE 5;
CREATE STREAM d (k INT DISTINCT 500, x INT) RATE 1;
"""
FOUR = """SELECT a.x FROM a [RANGE 100], b [RANGE 100], c [RANGE 100], d [RANGE 100]
WHERE a.k = b.k AND b.k = c.k AND c.k = d.k"""


def plan_of(cql: str) -> Plan:
    return compile_script(STREAMS + cql, Catalog())[-1].plan


def chosen(cql: str) -> Optimized:
    return optimize(plan_of(cql))


def rates() -> st.SearchStrategy[Statistics]:
    known = st.builds(SourceStatistics, rate=st.sampled_from([0.01, 1.0, 50.0]), rows=st.sampled_from([None, 5.0]))
    return st.builds(Statistics, st.dictionaries(st.sampled_from(["s", "t", "u", "r", "n"]), known))


@pytest.mark.parametrize("root", OPERATORS)
@examples(10)
@given(data=st.data())
def test_every_alternative_gives_the_answer_of_the_query_as_written(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root).filter(lambda case: allowed(case[0])))
    reference, end = Reference(plan, history), max(history.last, 0) + AFTERWARDS
    for other in alternatives(plan, data.draw(rates()), data.draw(st.booleans())):
        note(f"{other.name}:\n{drawn(other.plan)}")
        assert other.plan.schema == plan.schema
        again = Reference(other.plan, history)
        for t in sorted({*reference.instants(end), *again.instants(end), end}):
            assert close(reference.answer(t), again.answer(t)), f"at {t}"


def test_a_slow_selective_stream_is_joined_first() -> None:
    found = chosen(FOUR)
    assert found.chosen.cost < next(each.cost for each in found.others if each.plan == found.written) / 2
    assert "joins" in found.chosen.name


def test_many_small_windows_are_joined_as_one() -> None:
    found = chosen(
        """SELECT * FROM a [RANGE 100], b [RANGE 100], c [RANGE 100], d [RANGE 100], a [RANGE 5] e, b [RANGE 6] f
        WHERE a.k = b.k AND b.k = c.k AND c.k = d.k AND d.k = e.k AND e.k = f.k"""
    )
    assert any(isinstance(node, MultiJoin) for node in found.plan.walk())
    assert "order    b, b, d, a, a, c: " in choice_text(found), "those with many partners, fifty of a value, last"
    trees = [each for each in found.others if not any(isinstance(n, MultiJoin) for n in each.plan.walk())]
    assert all(found.chosen.costed.state < each.costed.state for each in trees)


def test_in_shards_a_multi_way_join_needs_one_key() -> None:
    chain = "SELECT a.x FROM a [RANGE 9], b [RANGE 9], c [RANGE 9] WHERE a.k = b.k AND b.x = c.x"
    for in_shards, expected in ((False, True), (True, False)):
        found = alternatives(plan_of(chain), Statistics(), in_shards)
        assert any(isinstance(node, MultiJoin) for each in found for node in each.plan.walk()) == expected


def test_duplicates_are_eliminated_below_the_join_where_that_pays() -> None:
    found = chosen("SELECT DISTINCT a.k FROM a [RANGE 100], b [RANGE 100] WHERE a.k = b.k")
    joins = [node for node in found.plan.walk() if isinstance(node, Join)]
    assert all(isinstance(side, Distinct) for join in joins for side in join.children)


def test_not_exists_goes_where_it_is_cheaper() -> None:
    query = """SELECT a.k, c.x FROM a [RANGE 100], c [RANGE 100]
    WHERE a.k = c.k AND NOT EXISTS (SELECT 1 FROM b [RANGE 100] WHERE a.k = b.k)"""
    found = chosen(query)
    assert isinstance(found.plan.children[0], Join), "few rows are left to join"
    quiet = Statistics({"b": SourceStatistics(0.0001)})
    pulled = optimize(plan_of(query.replace("[RANGE 100] WHERE a.k = b", "[RANGE 9] WHERE a.k = b")), quiet)
    names = {each.name for each in (pulled.chosen, *pulled.others)}
    assert {"rewritten", "rewritten, negation below joins"} <= names
    assert any(isinstance(node, SemiJoin) for node in pulled.plan.walk())


ABOVE = """SELECT x.k FROM (SELECT k FROM a [RANGE {0}] EXCEPT ALL SELECT k FROM b [RANGE {0}]) x
JOIN c [RANGE 9] ON c.k = x.k"""


def test_early_deletions_decide_how_results_expire_above_a_negation() -> None:
    """U7: the fewer of the left, the more of them are deleted early."""
    few = choose(plan_of(ABOVE.format(100)))
    assert few.optimized is not None and few.optimized.approach is ExpiryApproach.DIRECT
    assert few.blueprint.settings.above_negation == "direct"
    many = choose(plan_of(ABOVE.format(100)), statistics=Statistics({"b": SourceStatistics(9.0)}))
    assert many.optimized is not None and many.optimized.approach is ExpiryApproach.HYBRID
    assert many.blueprint.settings.above_negation == "hybrid"
    said = choice_text(many.optimized)
    assert "hybrid: above the negation" in said and f"{many.optimized.premature:.0%} of results" in said
    forced = choose(plan_of(ABOVE.format(100)), settings=Settings(above_negation="partitions"))
    assert forced.blueprint.settings.above_negation == "partitions"


def test_only_auto_chooses() -> None:
    plan = plan_of(FOUR)
    assert choose(plan, Strategy.NT).blueprint.plan == plan
    assert choose(plan, settings=Settings(optimize=False)).blueprint.plan == plan


def test_all_plans_are_shown_with_their_costs_and_why_one_won() -> None:
    found = chosen(FOUR)
    text = plans_text(found)
    for each in (found.chosen, *found.others):
        assert each.name in text
    assert text.splitlines()[1].endswith("chosen")
    assert "times as much" in text
    assert all(len(line) <= 120 for line in text.splitlines())
    json = choice_json(found)
    assert json["chosen"]["cost"] == found.chosen.cost
    assert [each["name"] for each in json["others"]] == [each.name for each in found.others]


def test_analyze_sets_measurements_beside_estimates() -> None:
    session = tw.local()
    session.execute(STREAMS)
    query = session.query("SELECT a.k FROM a [RANGE 10] JOIN b [RANGE 10] ON a.k = b.k WHERE a.x = 1")
    session.push("a", [(i // 10, i % 100, i % 2) for i in range(1000)])
    session.push("b", [(i, i % 100, 0) for i in range(100)])
    session.advance(100)
    json = query.explain(format="json", analyze=True)["choice"]["chosen"]["plan"]
    leaves: dict[str, float] = {}

    def walk(each: dict[str, Any]) -> None:
        if not each["children"]:
            leaves[each["detail"]] = each["measured"]["rate"]
        for child in each["children"]:
            walk(child)

    walk(json)
    assert leaves == {"a": pytest.approx(10, rel=0.02), "b": pytest.approx(1, rel=0.02)}
    assert "seen" in query.explain(analyze=True)


def test_what_a_composed_operator_stores_is_seen() -> None:
    s = tw.local()
    s.execute("CREATE STREAM a (x INT); CREATE STREAM b (x INT)")
    q = s.query("SELECT x FROM a [RANGE 100] WHERE x NOT IN (SELECT x FROM b [RANGE 100])")
    s.push("a", [(i, i % 7) for i in range(1, 50)])
    s.advance(60)
    q.answer()
    lines = str(q.explain(analyze=True)).partition("results/tick")[2].splitlines()
    (line,) = (line for line in lines if line.startswith("AntiJoin"))
    assert int(line.split()[-2]) >= 49  # before the cost: all that may come back
