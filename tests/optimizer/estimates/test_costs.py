"""Would catch a cost that is not the papers', or an estimate of traffic that is far from the measured one."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import thalweg as tw
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan
from thalweg.cql import compile_script
from thalweg.optimizer.cost import Access, Costed, cost
from thalweg.optimizer.estimates import ExpiryApproach
from thalweg.optimizer.statistics import MeasuredOutput, Statistics, declared

STREAMS = """
CREATE STREAM s (a INT DISTINCT 50, b INT DISTINCT 10) RATE 4;
CREATE STREAM t (a INT DISTINCT 20, b INT DISTINCT 10) RATE 2;
CREATE RELATION r (a INT PRIMARY KEY, b STRING DISTINCT 5) ROWS 40;
"""


def plan_of(cql: str) -> Plan:
    return compile_script(STREAMS + cql, Catalog())[-1].plan


def costed(cql: str, approach: ExpiryApproach = ExpiryApproach.DIRECT, access: Access = Access.SCAN) -> Costed:
    plan = plan_of(cql)
    return cost(plan, declared([plan]), approach, access)


def find(found: Costed, label: str) -> Costed:
    return next(each for each in found.walk() if each.node.label == label)


JOIN = "SELECT * FROM s [RANGE 100] JOIN t [RANGE 50] ON s.a = t.a"


def test_declared_statistics_reach_the_sources() -> None:
    join = find(costed(JOIN), "Join")
    left, right = (child.traffic for child in join.children)
    assert (left.rate, left.size, left.distinct) == (4, 400, (50, 10))
    assert (right.rate, right.size, right.distinct) == (2, 100, (20, 10))


def test_a_join_costs_what_it_stores_and_scans() -> None:
    """lambda1 N2 + lambda2 N1, and every tuple is put into the state and taken out again."""
    assert find(costed(JOIN), "Join").cost == 4 * 100 + 2 * 400 + 2 * (4 + 2)


def test_by_hash_only_partners_are_looked_at() -> None:
    assert find(costed(JOIN, access=Access.HASH), "Join").cost == 4 * 100 / 50 + 2 * 400 / 50 + 2 * (4 + 2)


def test_negative_tuples_double_the_cost() -> None:
    direct, nt = (find(costed(JOIN, approach), "Join").cost for approach in (ExpiryApproach.DIRECT, ExpiryApproach.NT))
    assert nt == 2 * direct


def test_a_join_gives_the_papers_rate_and_size() -> None:
    traffic = find(costed(JOIN), "Join").traffic
    assert traffic.size == 400 * 100 / 50
    assert traffic.rate == (4 * 100 + 2 * 400) / 50


def test_distinct_scans_half_its_output() -> None:
    found = find(costed("SELECT DISTINCT a FROM s [RANGE 100]"), "Distinct")
    assert found.traffic.size == 50
    assert found.cost == 4 * 50 / 2


def test_group_by_works_on_arrival_and_on_expiry() -> None:
    assert find(costed("SELECT b, COUNT(*) AS n FROM s [RANGE 100] GROUP BY b"), "GroupBy").cost == 2 * 4
    assert (
        find(costed("SELECT b, COUNT(*) AS n FROM s [RANGE 100] GROUP BY b", ExpiryApproach.NT), "GroupBy").cost
        == 2 * 8
    )


def test_negation_searches_its_counts_by_value() -> None:
    found = find(costed("SELECT a FROM s [RANGE 100] EXCEPT ALL SELECT a FROM t [RANGE 50]"), "Negation")
    deleted = found.traffic.rate * found.traffic.premature
    assert found.cost == pytest.approx(2 * 4 * log2(50) + 2 * 2 * log2(20) + deleted)


def test_premature_expirations_need_common_values() -> None:
    few = "SELECT a FROM s [RANGE 5] EXCEPT ALL SELECT a FROM t [RANGE 5] WHERE b = 3"
    assert find(costed(few), "Negation").traffic.premature < 0.05
    many = "SELECT b FROM s [RANGE 100] EXCEPT ALL SELECT b FROM t [RANGE 50]"
    assert find(costed(many), "Negation").traffic.premature == pytest.approx(
        1 / 3, rel=0.05
    )  # lambda2 / (lambda1 + lambda2)


def test_what_was_measured_counts_more_than_a_guess() -> None:
    plan = plan_of("SELECT a FROM s [RANGE 100] WHERE b < 3")
    select = plan.children[0]
    known = Statistics(declared([plan]).sources, {digest(select): MeasuredOutput(0.4)})
    found = find(cost(plan, known), "Select")
    assert (found.traffic.rate, found.traffic.size) == (0.4, 40)


def test_statistics_survive_a_checkpoint() -> None:
    plan = plan_of(JOIN)
    known = Statistics(declared([plan]).sources, {digest(plan): MeasuredOutput(3.0, 0.5)})
    assert Statistics.from_json(known.as_json()) == known


QUERIES = [
    "SELECT a FROM s [RANGE 20] WHERE NOT EXISTS (SELECT 1 FROM t [RANGE 20] WHERE t.a = s.a)",
    "SELECT a FROM s [RANGE 20] WHERE EXISTS (SELECT 1 FROM t [RANGE 5] WHERE t.a = s.a)",
    JOIN,
    "SELECT * FROM s [RANGE 100] WHERE b = 3",
    "SELECT DISTINCT a, b FROM s [RANGE 300]",
    "SELECT * FROM s [RANGE 100] JOIN r ON s.a = r.a",
    "SELECT b FROM s [RANGE 100] EXCEPT ALL SELECT b FROM t [RANGE 50]",
    "SELECT a FROM s [RANGE 20] EXCEPT ALL SELECT a FROM t [RANGE 20]",
    "SELECT a FROM s [ROWS 60]",
]


@pytest.mark.parametrize("cql", QUERIES)
def test_estimates_come_close_on_uniform_streams(cql: str) -> None:
    """Within a third of the measured rate and size of the answer, whatever the operator."""
    session = tw.local()
    session.execute(STREAMS)
    query = session.query(cql)
    draw = np.random.default_rng(7)
    session.insert("r", [(i, "x") for i in range(40)])
    horizon = 1500
    for name, rate, values in (("s", 4, 50), ("t", 2, 20)):
        times = np.sort(draw.integers(0, horizon, rate * horizon))
        rows = zip(times, draw.integers(0, values, len(times)), draw.integers(0, 10, len(times)), strict=True)
        session.push(name, [tuple(map(int, row)) for row in rows])
    session.advance(horizon)
    sizes = [len(query.answer(t)) for t in range(500, horizon, 100)]
    gained = query.metrics().operators[-1].positive_out
    plan = plan_of(cql)
    found = cost(plan, declared([plan])).traffic
    assert found.rate == pytest.approx(gained / horizon, rel=1 / 3)
    assert found.size == pytest.approx(np.mean(sizes), rel=1 / 3)
