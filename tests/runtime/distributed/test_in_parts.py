"""Would catch an aggregate that one shard computes alone where all could, or that is put together wrongly of parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.distributed.cluster import Cluster
from runtime.distributed.test_against_reference import compare_in_shards
from runtime.distributed.test_resharding import compare_across_borders
from strategies.catalog import catalog
from strategies.effort import examples
from strategies.histories import histories
from thalweg.core.rows import Bag
from thalweg.cql import compile_query
from thalweg.kernel.pipeline import Settings
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.partial_aggregates import PARTIAL_AGGREGATES_FROM_TICKS
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.stages import BROADCAST, Cut, cut
from thalweg.runtime.spark.api.statistics import operator_totals

# It is there two stages after its tuples.
THRICE = """(SELECT q, COUNT(*) AS w FROM (SELECT m, COUNT(*) AS q FROM
    (SELECT k, MAX(v) AS m FROM s [RANGE 60] GROUP BY k) h GROUP BY m) g GROUP BY q)"""
NONE_YET = "(SELECT COUNT(*) AS n FROM t [RANGE 40 SLIDE 20])"
IN_PARTS = [
    "SELECT COUNT(*) AS n, COUNT(k) AS m, MIN(v) AS low, MAX(v) AS high FROM s [RANGE 5 SLIDE 3]",
    "SELECT MAX(name) AS last, MIN(x) AS least FROM u [RANGE 4]",
    "SELECT COUNT(*) AS n FROM s [RANGE 5] JOIN t [RANGE 4] ON s.k = t.k",
    "SELECT a.k, a.v FROM s [RANGE 5] a JOIN (SELECT MAX(v) AS top FROM s [RANGE 7]) m ON a.v = m.top",
    "SELECT a.k, a.v, n FROM s [RANGE 5] a JOIN (SELECT COUNT(*) AS n FROM t [RANGE 3 SLIDE 2]) m ON a.v <= m.n",
    "SELECT a.k, m.low FROM s [RANGE 5] a LEFT JOIN (SELECT MIN(v) AS low FROM t [RANGE 3]) m ON a.v > m.low",
    "SELECT k, COUNT(*) AS n FROM s [RANGE 6] WHERE v IN (SELECT MAX(v) FROM t [RANGE 4]) GROUP BY k",
    "SELECT k FROM s [ROWS 3] WHERE NOT EXISTS (SELECT 1 FROM (SELECT MAX(v) AS top FROM t [RANGE 4]) m WHERE top < v)",
    "SELECT a.n - b.n AS d FROM (SELECT COUNT(*) AS n FROM s [RANGE 4]) a, (SELECT COUNT(k) AS n FROM t [RANGE 4]) b",
    "SELECT MAX(n) AS most FROM (SELECT k, COUNT(*) AS n FROM s [RANGE 6] GROUP BY k) g",
    "RSTREAM(SELECT MAX(k) AS top, COUNT(*) AS n FROM s [RANGE 4])",
    "SELECT k, v FROM s [RANGE 5] a EXCEPT ALL ON (v) SELECT MAX(v) AS v FROM s [RANGE 9]",
]


@pytest.mark.parametrize("across", [False, True], ids=["restarted", "in other shards"])
@pytest.mark.parametrize("cql", IN_PARTS)
@examples(4)
@given(data=st.data())
def test_parts_give_the_references_answer(cql: str, across: bool, data: st.DataObject) -> None:
    known = catalog()
    compare = compare_across_borders if across else compare_in_shards
    compare(compile_query(cql, known), data.draw(histories(known)), data)


@pytest.mark.parametrize(
    "cql",
    [
        f"SELECT z.q, c.n FROM {THRICE} z JOIN {NONE_YET} c ON z.q > c.n",
        f"SELECT z.q, c.n FROM {THRICE} z LEFT JOIN {NONE_YET} c ON z.q > c.n",
        f"ISTREAM(SELECT z.q, c.n FROM {THRICE} z JOIN {NONE_YET} c ON z.q > c.n)",
        f"SELECT z.k, c.n FROM s [RANGE 60] z JOIN {NONE_YET} c ON z.k > c.n",
    ],
)
def test_a_count_of_nothing_is_known_in_every_group_and_stage_at_once(cql: str, tmp_path: Path) -> None:
    """Before any tuple of `t` has come no part of it has been sent to anybody."""
    answered: list[list[Bag]] = []
    for least in (None, 1):
        blueprint = Blueprint(compile_query(cql, catalog()), settings=Settings(in_parts=least))
        times = {"s": InputTime(), "t": InputTime()}
        cluster = Cluster(blueprint, 2, tmp_path / str(least), times, {}, groups=8)
        answers = []
        for t, streams in ((5, "s"), (12, "s"), (35, "st"), (45, "st")):
            rows = [(t, 0, (i * t % 9, i % 3)) for i in range(9 if t == 5 else 1)]
            cluster.batch({name: [rows] for name in streams}, clock=t)
            answers.append(cluster.log.answer(t))
        answered.append(answers)
    assert answered[0] == answered[1]
    assert answered[0][0]


def test_what_every_group_does_alike_counts_once(tmp_path: Path) -> None:
    plan = compile_query(
        "SELECT k, top FROM s [RANGE 60] a JOIN (SELECT MAX(v) AS top FROM s [RANGE 9]) m ON v = top", catalog()
    )
    done = []
    for least in (None, 1):
        blueprint = Blueprint(plan, settings=Settings(in_parts=least))
        cluster = Cluster(blueprint, 2, tmp_path / str(least), {"s": InputTime()}, {}, groups=8)
        for t in range(1, 40):
            cluster.batch({"s": [[(t, 0, (t % 5, t * 7 % 11))]]}, clock=t)
        stages = [cluster.reports(stage) for stage in range(len(cluster.spec.run_spec.stages))]
        counts = operator_totals(blueprint.build(), cluster.spec.cut, stages)
        done.append(counts[blueprint.build().places[plan.children[0].children[1]]].positive_out)
    assert done[0] == done[1] > 5


def in_parts(cql: str, least: int | None = 1) -> Cut:
    return cut(Blueprint(compile_query(cql, catalog()), settings=Settings(in_parts=least)).build())


def test_the_tuples_stay_where_they_are() -> None:
    whole, parts = (in_parts("SELECT MAX(v) AS top FROM s [RANGE 9]", least) for least in (None, 1))
    assert [port.key for port in whole.ports] == [()]
    assert [port.key for port in parts.ports] == [None, ()]


def test_what_is_put_together_meets_others_everywhere() -> None:
    found = in_parts("SELECT k FROM s [RANGE 9] a JOIN (SELECT MAX(v) AS top FROM s [RANGE 9]) m ON v = top")
    assert [port.key for port in found.ports] == [None, BROADCAST, None]
    assert len(found.stages) == 2
    assert not any(step.alone for stage in found.stages for step in stage.steps)


@pytest.mark.parametrize(
    "aggregate",
    [
        "SUM(v) AS n FROM s [RANGE 9000 SLIDE 9000]",
        "COUNT(DISTINCT v) AS n FROM s [RANGE 9000 SLIDE 9000]",
        "COUNT(*) AS n FROM s [RANGE 9000]",
        "COUNT(*) AS n FROM s [RANGE 9000 SLIDE 9]",
        "MAX(v) AS n FROM s [RANGE 900]",
        "MAX(v) AS n FROM s [ROWS 9000]",
        "k, MAX(v) AS n FROM s [RANGE 9000] GROUP BY k",
        "COUNT(*) AS n FROM r",
    ],
)
def test_what_would_change_with_every_tuple_or_round_twice_is_not_cut(aggregate: str) -> None:
    assert in_parts(f"SELECT {aggregate}", PARTIAL_AGGREGATES_FROM_TICKS) == in_parts(f"SELECT {aggregate}", None)


@pytest.mark.parametrize(
    "aggregate", ["COUNT(*) AS n FROM s [RANGE 9000 SLIDE 1000]", "MIN(v) AS n FROM s [RANGE 1000]"]
)
def test_what_changes_seldom_is_cut(aggregate: str) -> None:
    assert in_parts(f"SELECT {aggregate}", PARTIAL_AGGREGATES_FROM_TICKS) != in_parts(f"SELECT {aggregate}", None)
