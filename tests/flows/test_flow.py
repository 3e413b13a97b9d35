"""Flows in sessions: would catch a query that cannot be added, dropped, asked or found, or that harms others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from runtime.local.made import session
from thalweg.core.errors import DataError, NameNotFoundError, PlanError, SuspendedError, ThalwegError
from thalweg.flows.query_info import QueryState
from thalweg.flows.standing import Quotas

RUNNING, SUSPENDED = QueryState.RUNNING, QueryState.SUSPENDED


@tw.aggregate(returns=str)
def chain(values: Sequence[object]) -> str:
    if len(values) > 2:
        raise ValueError("too long")
    return "-".join(map(str, values))


def test_queries_are_added_asked_and_dropped_while_tuples_flow() -> None:
    s = session()
    flow = s.flow("f")
    high = flow.add("SELECT a FROM s [RANGE 5] WHERE a > 10", name="high", owner="ann")
    s.push("s", [(1, 5, "x"), (2, 20, "x")])
    late = flow.add("SELECT a FROM s [RANGE 5] WHERE a > 10")
    s.push("s", [(2, 30, "y"), (3, 40, "y")])
    assert flow.answer(high) == [(20,), (30,), (40,)]
    assert flow.answer(late) == [(30,), (40,)]
    assert flow.answer("high", at=2) == [(20,), (30,)]
    assert flow.changes(late) == [(2, 1, (30,)), (3, 1, (40,))]
    s.advance(8)
    assert flow.changes(late) == [(7, -1, (30,)), (8, -1, (40,))]
    shown = [(q.id, q.name, q.owner, q.since, q.state, q.seen, q.results) for q in flow.queries()]
    assert shown == [
        ("q1", "high", "ann", None, RUNNING, 4, 3),
        ("q2", "q2", "", 2, RUNNING, 2, 2),
    ]
    flow.drop("high")
    with pytest.raises(NameNotFoundError, match="no query high"):
        flow.answer("high")
    assert flow.add("SELECT a FROM s", name="high") == "q4", "ids are never given again"
    assert [q.id for q in flow.queries()] == ["q2", "q4"]


def test_a_query_of_a_flow_is_as_one_of_the_session() -> None:
    s = session("CREATE RELATION t (k INT PRIMARY KEY, w INT)")
    flow = s.flow()
    text = "SELECT s.b, t.w, COUNT(*) AS n FROM s [RANGE 4], t WHERE s.a = t.k GROUP BY s.b, t.w"
    ids, alone = [flow.add(text), flow.add("SELECT COUNT(*) FROM s [ROWS 2]")], [s.query(text)]
    alone.append(s.query("SELECT COUNT(*) FROM s [ROWS 2]"))
    s.insert("t", [(1, 10), (2, 20)])
    for t in range(1, 9):
        s.push("s", [(t, t % 3, "x"), (t, t % 2, "y")])
        if t == 4:
            s.update("t", [(1, 11)])
            ids.append(flow.add(text))
            alone.append(s.query(text))
        for id_, query in zip(ids, alone, strict=True):
            assert flow.answer(id_) == query.answer()
            assert flow.changes(id_) == query.changes()
    s.advance(20)
    assert [flow.changes(id_) for id_ in ids] == [query.changes() for query in alone]


def test_what_a_table_held_before_the_flow_was_made_is_known() -> None:
    s = session("CREATE RELATION t (k INT PRIMARY KEY, w INT)")
    s.insert("t", [(1, 10)])
    flow = s.flow()
    id_ = flow.add("SELECT w FROM t")
    assert flow.answer(id_) == [(10,)]
    s.push("s", [(3, 1, "x")])
    s.update("t", [(1, 11)])
    assert flow.answer(id_) == [(11,)]
    assert flow.answer(flow.add("SELECT w FROM t, s [RANGE 9] WHERE a = k")) == []


def test_backfill_starts_from_what_the_flow_holds() -> None:
    s = session()
    flow = s.flow()
    flow.add("SELECT a FROM s [RANGE 10]")
    s.push("s", [(t, t, "x") for t in range(1, 6)])
    counted = "SELECT COUNT(*) FROM s [RANGE 10]"
    assert flow.answer(flow.add(counted)) == [(0,)]
    filled = flow.add(counted, backfill=True)
    assert flow.answer(filled) == [(5,)]
    assert flow.changes(filled) == [(5, 1, (5,))]
    s.advance(12)
    assert flow.answer(filled) == [(3,)]


def test_backfilled_tuples_meet_tables_as_they_were() -> None:
    s = session("CREATE NRR n (k INT PRIMARY KEY, w INT)")
    flow = s.flow()
    joined = "SELECT a, w FROM s [RANGE 10], n WHERE a = k"
    before = flow.add(joined)
    s.insert("n", [(1, 10)])
    s.push("s", [(1, 1, "x")])
    flow.answer(before)
    s.update("n", [(1, 20)], at=2)
    s.push("s", [(3, 1, "x")])
    filled = flow.add(joined, backfill=True)
    assert flow.answer(filled) == flow.answer(before) == [(1, 10), (1, 20)]
    s.advance(11)
    assert flow.answer(filled) == [(1, 20)]


def test_a_query_that_raises_is_suspended_and_the_others_go_on() -> None:
    s = session()
    s.register(chain)
    flow = s.flow()
    good, bad = flow.add("SELECT COUNT(*) FROM s [ROWS 9]"), flow.add("SELECT chain(a) FROM s [ROWS 9]")
    same = flow.add("SELECT chain(a), COUNT(*) FROM s [ROWS 9]")
    s.push("s", [(t, t, "x") for t in range(2)])
    assert flow.answer(bad) == [("0-1",)]
    s.push("s", [(2, 2, "x")])
    assert flow.answer(good) == [(3,)]
    for _ in range(2):
        with pytest.raises(SuspendedError, match=f"{bad} was suspended at 2: .*CHAIN raised ValueError over 3 values"):
            flow.answer(bad)
    states = {q.id: (q.state, q.reason is not None and "too long" in q.reason) for q in flow.queries()}
    assert states == {
        good: (RUNNING, False),
        bad: (SUSPENDED, True),
        same: (SUSPENDED, True),
    }
    flow.drop(bad)
    s.push("s", [(3, 3, "x")])
    assert flow.answer(good) == [(4,)]


@pytest.mark.parametrize(
    ("quotas", "reason"),
    [
        ({"results": 3}, "4 results, its quota is 3 in all"),
        ({"results_per_second": 1}, "2 results in one tick, its quota is 1"),
        ({"state": 2}, "stores 4 tuples, its quota is 2"),
    ],
)
def test_a_query_beyond_its_quota_is_suspended(quotas: dict[str, Any], reason: str) -> None:
    s = session()
    flow = s.flow()
    limited, free = flow.add("SELECT a FROM s [ROWS 9]", quotas=quotas), flow.add("SELECT a FROM s [ROWS 9]")
    for t, rows in ((1, 1), (2, 1), (3, 2)):
        assert [q.state for q in flow.queries()] == [RUNNING, RUNNING]
        s.push("s", [(t, t, "x")] * rows)
    with pytest.raises(SuspendedError, match=reason):
        flow.answer(limited)
    assert len(flow.answer(free)) == 4
    assert next(q.reason for q in flow.queries() if q.id == limited) is not None


def test_sharing_is_reported() -> None:
    s = session()
    flow = s.flow()
    ids = [flow.add("SELECT b, COUNT(*) AS n FROM s [RANGE 5] WHERE a > 1 GROUP BY b") for _ in range(4)]
    s.push("s", [(t, t, "x") for t in range(8)])
    found = flow.metrics()
    assert found.saved == pytest.approx(0.75)
    assert [q.metrics.saved for q in found.queries] == [pytest.approx(0.75)] * 4
    assert {q.seen for q in found.queries} == {8} and found.held == 8
    assert "shared by 4 queries" in flow.explain(ids[0])
    for id_ in ids[1:]:
        flow.drop(id_)
    assert "GroupBy: its own" in flow.explain(ids[0])


def test_a_catalogue_brings_queries_back(tmp_path: Path) -> None:
    first = session()
    flow = first.flow("f", folder=tmp_path)
    flow.add("SELECT a FROM s", name="all", owner="ann", quotas={"results": 5})
    gone = flow.add("SELECT b FROM s")
    flow.add("SELECT COUNT(*) FROM r [ROWS 3]", name="count", backfill=True)
    flow.drop(gone)
    with pytest.raises(PlanError, match="there is a query called all already: q1"):
        flow.add("SELECT a FROM s", name="all")
    with (tmp_path / "queries.jsonl").open("a") as log:
        log.write('{"seq": 5, "command": "drop", "id": "q')  # a writer died

    again = session()
    flow = again.flow("f", folder=tmp_path)
    assert [(q.id, q.name, q.owner) for q in flow.queries()] == [("q1", "all", "ann"), ("q3", "count", "")]
    again.push("s", [(1, 1, "x")])
    again.push("r", [(1, 1)])
    assert (flow.answer("all"), flow.answer("count")) == ([(1,)], [(1,)])
    assert flow.add("SELECT a FROM r") == "q5"
    again.push("s", [(2, 1, "x")] * 5)
    again.push("r", [(2, 1)])
    assert [q.state for q in flow.queries()] == [SUSPENDED, RUNNING, RUNNING]
    assert again.flow("f", folder=tmp_path) is flow
    with pytest.raises(PlanError, match="does not lie in"):
        again.flow("f", folder=tmp_path / "other")


def test_two_sessions_may_use_one_folder(tmp_path: Path) -> None:
    one, two = session(), session()
    here, there = one.flow("f", folder=tmp_path), two.flow("f", folder=tmp_path)
    here.add("SELECT a FROM s")
    assert there.add("SELECT b FROM s") == "q2"
    here.refresh()
    here.drop("q1")
    there.refresh()
    assert [q.id for q in here.queries()] == [q.id for q in there.queries()] == ["q2"]


def test_a_query_that_does_not_fit_any_more_is_suspended(tmp_path: Path) -> None:
    session().flow("f", folder=tmp_path).add("SELECT a FROM s")
    s = tw.local()
    s.execute("CREATE STREAM other (a INT)")
    (shown,) = s.flow("f", folder=tmp_path).queries()
    assert shown.state == SUSPENDED and shown.reason == "there is no stream, relation or view called s"
    with pytest.raises(SuspendedError, match="q1 was suspended at the beginning: there is no stream"):
        s.flow("f").answer("q1")


@pytest.mark.parametrize(
    "line", ["{", '{"seq": 2, "command": "add", "id": "q2"}', '{"seq": 1, "command": "eat", "id": ""}']
)
def test_a_damaged_catalogue_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "queries.jsonl").write_text(f"{line}\n")
    with pytest.raises(DataError, match=r"queries.jsonl, line 1: expected (a command|command number 1)"):
        session().flow("f", folder=tmp_path)


def test_mistakes_leave_nothing_behind(tmp_path: Path) -> None:
    flow = session("CREATE STREAM stamped (ts TIMESTAMP) TIMESTAMP BY ts").flow("f", folder=tmp_path)
    flow.add("SELECT a FROM s")
    for wrong, message in (
        ("SELECT nothing FROM s", "there is no column nothing"),
        ("SELECT a FROM", "expected"),
        ("SELECT ts FROM stamped", "go by ticks, this one does not"),
    ):
        with pytest.raises(ThalwegError, match=message):
            flow.add(wrong)
    with pytest.raises(PlanError, match="quota results is a whole number of at least 0, not -1"):
        flow.add("SELECT a FROM s", quotas={"results": -1})
    with pytest.raises(NameNotFoundError, match="did you mean q1"):
        flow.drop("q11")
    assert [q.id for q in flow.queries()] == ["q1"]
    assert (tmp_path / "queries.jsonl").read_text().count("\n") == 1


def test_the_past_and_the_future_are_not_answered() -> None:
    s = session()
    flow = s.flow()
    flow.add("SELECT a FROM s")
    s.push("s", [(5, 1, "x")])
    flow.answer("q1")
    late = flow.add("SELECT a FROM s")
    with pytest.raises(DataError, match="q2 was added at 5, so it has no answer at 4"):
        flow.answer(late, at=4)
    with pytest.raises(DataError, match="the flow's clock is at 5"):
        flow.answer(late, at=6)


def test_queries_built_in_python_and_several_at_once(tmp_path: Path) -> None:
    s = session()
    flow = s.flow()
    ids = flow.add_all([s.table("s").where("a > 1").select("a"), "SELECT b FROM s"], names=["big", "all"], owner="ann")
    s.push("s", [(1, 1, "x"), (2, 2, "y")])
    assert [flow.answer(id_) for id_ in ids] == [[(2,)], [("x",), ("y",)]]
    assert [(q.name, q.owner, q.quotas) for q in flow.queries()] == [("big", "ann", Quotas()), ("all", "ann", Quotas())]
    assert flow.get_query("all").explain(format="json")["operators"]
    assert (flow.now, flow.get_query("big").metrics().results) == (2, 1)
    with pytest.raises(NameNotFoundError):
        flow.add_all(["SELECT a FROM s", "SELECT zz FROM s"])
    assert len(flow.queries()) == 2, "none of them was added"
    with pytest.raises(PlanError, match="this one has no text"):
        s.flow("kept", folder=tmp_path).add(s.table("s"))
