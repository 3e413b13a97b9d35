"""Would catch tuples that lose their numbers on the way to an ordered join, or the wrong join for a plan (W6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from strategies.effort import examples
from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Plan
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.pipeline import Strategy, build

STREAMS = (
    "CREATE STREAM s (a INT, b INT); CREATE STREAM t (a INT, b INT); CREATE RELATION r (a INT, b INT, PRIMARY KEY (a))"
)
KEYED = "SELECT * FROM s [ROWS 3] JOIN t [ROWS 2] ON s.a = t.a"
PICKY = "SELECT * FROM s [PARTITION BY a ROWS 2] JOIN t [ROWS 4] ON s.a = t.a AND s.b < t.b"

ORDERED = [
    KEYED,
    PICKY,
    "SELECT * FROM s [ROWS 3 SLIDE 2] JOIN t [PARTITION BY b ROWS 1 RANGE 4] ON s.b < t.b",
    "SELECT s.b + 1 AS c, t.b FROM s [RANGE 5] JOIN t [ROWS 3] ON s.a = t.a WHERE s.b <> t.a AND t.b > 0",
    "SELECT x.c, y.b FROM (SELECT b, a + 1 AS c FROM s [ROWS 3] WHERE b > 0) x JOIN t [ROWS 2] y ON x.c = y.a",
    "SELECT * FROM s [ROWS 2] x JOIN s [ROWS 3] y ON x.a = y.b AND x.b <= y.a",
    "SELECT s.a, COUNT(*) FROM s [ROWS 3] JOIN t [RANGE 2 ON b] ON s.a = t.a AND s.b <= t.b GROUP BY s.a",
    "RSTREAM(SELECT * FROM s [ROWS 2] JOIN t [PARTITION BY a ROWS 1 RANGE 3] ON s.a = t.a)",
]
ROWS = st.lists(
    st.tuples(st.sampled_from(["s", "t"]), st.integers(0, 2), st.sampled_from([0, 1, 2, None]), st.integers(-1, 2)),
    max_size=25,
)


def plan_of(query: str) -> Plan:
    catalog = Catalog()
    compile_script(STREAMS, catalog)
    return compile_query(query, catalog)


def is_ordered(query: str, strategy: Strategy) -> bool:
    return any(isinstance(node.operator, OrderedJoin) for node in build(plan_of(query), strategy).nodes)


@pytest.mark.parametrize("query", ORDERED)
@examples(15)
@given(rows=ROWS, often=st.booleans())
def test_the_answer_is_the_references(query: str, rows: list[tuple[str, int, int | None, int]], often: bool) -> None:
    session = tw.local()
    session.execute(STREAMS)
    asked = {strategy: session.query(query, strategy=strategy) for strategy in ("reference", "auto", "ord")}
    emitted: dict[str, list[object]] = {strategy: [] for strategy in asked}
    now = 0
    for stream, gap, a, b in rows:
        now += gap
        session.push(stream, [(now, a, b)])
        if often:
            for strategy, q in asked.items():
                emitted[strategy] += q.changes()
    session.advance(now + 6)
    for strategy, q in asked.items():
        emitted[strategy] += q.changes()
    assert emitted["ord"] == emitted["auto"] == emitted["reference"]


@pytest.mark.parametrize("query", ORDERED)
def test_it_is_used_wherever_it_can_be_if_asked_for(query: str) -> None:
    assert is_ordered(query, Strategy.ORD) and not is_ordered(query, Strategy.NT)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM s [RANGE 3] JOIN t [RANGE 3] ON s.a = t.a AND s.b < t.b",  # ends are known
        "SELECT * FROM s [ROWS 3] LEFT JOIN t [ROWS 3] ON s.a = t.a AND s.b < t.b",
        "SELECT * FROM s [ROWS 3] JOIN r ON s.a = r.a AND s.b < r.b",  # a table's rows have no order
        "SELECT * FROM ISTREAM(SELECT a, b FROM s [ROWS 3]) [ROWS 2] x JOIN t [ROWS 3] ON x.a = t.a AND x.b < t.b",
    ],
)
def test_where_tuples_have_no_order_it_is_not_used(query: str) -> None:
    assert not is_ordered(query, Strategy.ORD) and not is_ordered(query, Strategy.AUTO)


def test_auto_uses_it_where_candidates_must_be_looked_at_one_by_one() -> None:
    assert is_ordered(PICKY, Strategy.AUTO)
    assert not is_ordered(KEYED, Strategy.AUTO), "finding results again by key is cheaper than keeping them"
    theta = "SELECT * FROM s [ROWS 3] JOIN t [ROWS 2] ON s.b < t.b"
    assert not is_ordered(theta, Strategy.AUTO), "results may be as many as pairs"


@pytest.mark.parametrize(("query", "shown"), [(PICKY, True), (KEYED, False)])
def test_explain_says_what_auto_does(query: str, shown: bool) -> None:
    session = tw.local()
    session.execute(STREAMS)
    join = session.query(query).explain(format="json")
    while join["operator"] != "Join":
        (join,) = join["children"]
    assert ("two-catalogue order index" in [b["kind"] for b in join["buffer"]]) is shown
