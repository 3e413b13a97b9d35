"""`tw.local()` as a user meets it: pushing, time, tables, late rows, changes. Answers themselves are tested elsewhere.

Would catch changes that depend on how often they are read, rows lost or taken twice, and time that runs backwards.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

import thalweg as tw
from runtime.local.made import session
from thalweg.core.errors import DataError, NameNotFoundError, OutOfOrderError, PlanError, WindowError
from thalweg.flows.query_info import QueryState
from thalweg.patterns import Pattern


def test_changes_come_once_with_losses_first() -> None:
    s = session()
    q = s.query("SELECT b, count(*) AS n FROM s [RANGE 3] GROUP BY b")
    s.push("s", [(1, 1, "x"), (2, 2, "x")])
    assert q.changes() == [(1, 1, ("x", 1)), (2, -1, ("x", 1)), (2, 1, ("x", 2))]
    assert q.changes() == []
    s.advance(9)
    assert q.changes() == [(4, -1, ("x", 2)), (4, 1, ("x", 1)), (5, -1, ("x", 1))]
    assert q.answer() == []
    assert q.answer(at=2) == [("x", 2)]
    assert q.now == 9


def test_an_instant_read_in_its_middle_is_corrected_later() -> None:
    s = session()
    q = s.query("SELECT count(*) FROM s [NOW]")
    s.push("s", [(1, 1, "x")])
    assert q.changes() == [(1, 1, (1,))]
    s.push("s", [(1, 2, "y")])
    assert q.changes() == [(1, -1, (1,)), (1, 1, (2,))]


def test_the_first_answer_is_emitted_when_the_clock_starts() -> None:
    s = session()
    early, late = s.query("SELECT count(*) FROM s"), s.query("SELECT count(*) FROM s")
    s.advance(5)
    assert early.changes() == [(5, 1, (0,))]
    s.push("s", [(7, 1, "x")])
    assert early.changes() == [(7, -1, (0,)), (7, 1, (1,))]
    assert late.changes() == [(5, 1, (0,)), (7, -1, (0,)), (7, 1, (1,))], "however often changes are read"


def test_a_query_waits_for_the_slowest_of_its_streams() -> None:
    s = session()
    q = s.query("SELECT s.a FROM s [RANGE 10], r [RANGE 10] WHERE s.a = r.a")
    alone = s.query("SELECT a FROM s [RANGE 10]")
    s.push("s", [(5, 1, "x"), (8, 2, "y")])
    assert (q.now, q.changes()) == (None, [])
    assert (alone.now, len(alone.changes())) == (8, 2)
    s.push("r", [(3, 1), (6, 2)])
    assert (q.now, q.changes()) == (6, [(5, 1, (1,))])
    s.advance(8)
    assert q.changes() == [(8, 1, (2,))]


def test_a_query_sees_what_arrives_after_it_was_registered() -> None:
    s = session()
    s.push("s", [(1, 1, "x")])
    q = s.query("SELECT a FROM s [RANGE 10]")
    s.push("s", [(2, 2, "y")])
    assert q.answer() == [(2,)]


def test_out_of_order_rows_are_refused_with_all_rows_of_the_call() -> None:
    s = session()
    q = s.query("SELECT a FROM s")
    with pytest.raises(OutOfOrderError, match="stream s is at 5; a row of 3 comes too late"):
        s.push("s", [(5, 1, "x"), (3, 2, "y")])
    assert q.answer() == []
    s.advance(4)
    with pytest.raises(OutOfOrderError, match="LATENESS"):
        s.push("s", [(3, 2, "y")])
    with pytest.raises(OutOfOrderError, match="cannot go back to 2"):
        s.advance(2)


def test_within_the_lateness_rows_are_put_in_order_and_later_ones_are_late_rows() -> None:
    s = session("CREATE STREAM slow (a INT) LATENESS 3")
    q = s.query("SELECT a FROM slow [ROWS 2]")
    s.push("slow", [(5, 50), (3, 30), (4, 40), (8, 80), (4, 41), (6, 60)])
    assert s.late("slow") == [(4, 41)]
    assert q.now == 5
    assert q.answer() == [(40,), (50,)], "the order of time, not of arrival"
    s.advance(8)
    assert q.answer() == [(60,), (80,)]


def test_timestamps_come_and_go_as_datetimes() -> None:
    s = session("CREATE STREAM ev (ts TIMESTAMP, gap INTERVAL) TIMESTAMP BY ts")
    q = s.query("SELECT ts, gap FROM ev [RANGE 90]")
    at = datetime(2026, 1, 31, 7)
    s.push("ev", [(at, timedelta(seconds=1)), ("2026-01-31 07:01:00", "2 minutes"), {"ts": at + timedelta(minutes=2)}])
    assert q.answer() == [(at + timedelta(minutes=1), timedelta(minutes=2)), (at + timedelta(minutes=2), None)]
    assert q.changes()[2] == (at + timedelta(seconds=90), -1, (at, timedelta(seconds=1)))
    assert q.answer(at="2026-01-31 07:00:30") == [(at, timedelta(seconds=1))]


def test_with_a_lateness_the_first_instant_does_not_depend_on_the_number_of_pushes() -> None:
    seen = []
    for pushes in ([[(0, 1), (7, 1)]], [[(0, 1)], [(7, 1)]]):
        s = session("CREATE STREAM slow (a INT) LATENESS 3")
        q = s.query("SELECT count(*) FROM slow [RANGE 5]")
        changes = []
        for rows in pushes:
            s.push("slow", rows)
            changes += q.changes()
        seen.append(changes)
    assert seen[0] == seen[1] == [(0, 1, (1,))]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1, 1), r"row 0 for s: expected a time and 2 values"),
        ((1, "one", "x"), "column a wants BIGINT, got 'one' .str."),
        ((1, 2**70, "x"), "column a wants BIGINT"),
        ((1, True, "x"), "column a wants BIGINT, got True"),
        (("soon", 1, "x"), "expected an integer as time, got 'soon'"),
        ({"ts": 1, "c": 3}, "there is no column c"),
        ({"a": 1}, "expected an integer as time, got None"),
    ],
)
def test_rows_that_do_not_fit(row: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        session().push("s", [row])  # type: ignore[list-item]


def test_a_script_with_a_mistake_leaves_nothing_behind() -> None:
    s = session()
    with pytest.raises(NameNotFoundError):
        s.execute("CREATE STREAM t (a INT); SELECT zz FROM t")
    s.execute("CREATE STREAM t (a INT); SELECT a FROM t")
    with pytest.raises(PlanError):
        s.execute("CREATE NRR n (k INT PRIMARY KEY); REGISTER QUERY alone AS SELECT k FROM n")
    s.execute("CREATE NRR n (k INT PRIMARY KEY)")


def test_a_time_of_day_needs_a_day() -> None:
    landmark = "SELECT ts FROM ev [UNBOUNDED START AT '07:00:00']"
    declare = "CREATE STREAM ev (ts TIMESTAMP) TIMESTAMP BY ts"
    s = tw.local()
    s.execute(declare)
    with pytest.raises(WindowError, match="the day is not known"):
        s.query(landmark)
    s.push("ev", [("2026-01-31 06:00:00",)])
    assert "2026-01-31 07:00:00" in s.query(landmark).explain()
    s = tw.local(today=date(2026, 2, 1))
    s.execute(declare)
    assert "2026-02-01 07:00:00" in s.query(landmark).explain()


def test_null_and_nan_are_null_and_numbers_widen() -> None:
    s = session("CREATE STREAM f (d DOUBLE)")
    q = s.query("SELECT d FROM f")
    s.push("f", [(1, 1), (1, None), (1, float("nan"))])
    assert q.answer() == [(1.0,), (None,), (None,)]


def test_timestamps_out_of_range_and_unreadable_ones_name_their_place() -> None:
    s = session("CREATE STREAM ev (ts TIMESTAMP, a INT) TIMESTAMP BY ts", "CREATE STREAM odd (ts INT, a INT)")
    with pytest.raises(DataError, match="row 0 for ev: column ts wants TIMESTAMP"):
        s.push("ev", [(2**60, 1)])
    with pytest.raises(DataError, match="row 1 for ev: column ts: expected a timestamp, got 'noon'"):
        s.push("ev", [("2026-01-01", 1), ("noon", 1)])
    with pytest.raises(DataError, match="has a column ts, so a mapping cannot give"):
        s.push("odd", [{"ts": 3, "a": 1}])
    s.push("s", [{"TS": 3, "A": 1}])


def test_names_that_do_not_exist() -> None:
    s = session()
    with pytest.raises(NameNotFoundError, match="did you mean s"):
        s.push("ss", [])
    with pytest.raises(DataError, match="v is not a stream"):
        session("CREATE VIEW v AS SELECT a FROM s").push("v", [])
    with pytest.raises(PlanError, match="there is no strategy 'fast'"):
        s.query("SELECT a FROM s", strategy="fast")
    with pytest.raises(DataError, match="not known yet: the clock is not started"):
        s.query("SELECT a FROM s").answer(at=3)


def test_a_query_explains_itself() -> None:
    q = session().query("SELECT DISTINCT a FROM s [RANGE 5]", name="values")
    assert q.patterns is Pattern.WK
    assert "delta*" in q.explain()
    assert q.explain(format="json")["operator"] == "Distinct"
    assert repr(q) == "<query values: WK, a BIGINT>"


def test_execute_gives_the_queries_it_registered() -> None:
    s = session()
    queries = s.execute("REGISTER QUERY one AS SELECT a FROM s; SELECT b FROM s [NOW]")
    assert [q.name for q in queries] == ["one", "q2"]
    assert [q.name for q in s.execute("REGISTER QUERY q4 AS SELECT a FROM s; SELECT b FROM s")] == ["q4", "q5"]
    assert s.query("SELECT a FROM s").name == "q6"
    s.push("s", [(1, 1, "x")])
    assert [q.answer() for q in queries] == [[(1,)], [("x",)]]


def test_metrics_count_tuples_by_sign() -> None:
    counted = {}
    for strategy in ("auto", "nt"):
        s = session()
        q = s.query("SELECT a FROM s [RANGE 2] WHERE a > 1", strategy=strategy)
        s.push("s", [(1, 1, "x"), (2, 2, "y"), (3, 3, "z")])
        s.advance(9)
        q.answer()
        counted[strategy] = q.metrics().operators
    last = {strategy: metrics[-1] for strategy, metrics in counted.items()}
    assert (last["auto"].positive_out, last["auto"].negative_out) == (2, 0), "ends are known: no negative tuples"
    assert (last["nt"].positive_out, last["nt"].negative_out) == (2, 2), "one for each that qualified"
    assert sum(m.negative_out for m in counted["nt"]) == 2, "what does not qualify never expires (N1)"
    assert session().query("SELECT a FROM s", strategy="reference").metrics().operators == ()


def test_streams_that_tick_and_streams_with_timestamps_have_clocks_apart() -> None:
    s = session("CREATE STREAM ev (ts TIMESTAMP, a INT) TIMESTAMP BY ts")
    ticks, stamps = s.query("SELECT a FROM s [RANGE 5]"), s.query("SELECT a FROM ev [RANGE 5]")
    s.push("s", [(1, 1, "x")])
    s.push("ev", [("2026-01-01 00:00:00", 1)])
    s.advance(datetime(2026, 1, 1, 0, 0, 10))
    assert (ticks.answer(), stamps.answer()) == ([(1,)], [])
    s.advance(7)
    assert (ticks.answer(), ticks.now) == ([], 7)


def test_time_is_moved_by_what_the_clock_understands() -> None:
    with pytest.raises(DataError, match="advance: expected an integer as time, got '2026-01-01'"):
        session().advance("2026-01-01")


def test_what_does_not_belong_is_refused() -> None:
    s, other = session(), session()
    with pytest.raises(PlanError, match="belongs to another session"):
        other.query(s.table("s"))
    for t in (2**63, -(2**62)):
        with pytest.raises(DataError, match="a time lies between"):
            s.push("s", [(t, 1, "x")])
    with pytest.raises(DataError, match="column b wants STRING"):
        s.push("s", [(1, 1, "\ud800")])
    s.push("s", [(3, 1, "x")])
    with pytest.raises(DataError, match="from 3 on, not at 1"):
        s.query("SELECT a FROM s").answer(at=1)


def test_queries_have_names_of_their_own_and_can_be_dropped() -> None:
    s = session()
    q = s.query("SELECT a FROM s", name="x")
    with pytest.raises(PlanError, match="a query called X already"):
        s.query("SELECT a FROM s", name="X")
    s.drop("x")
    s.push("s", [(1, 1, "x")])
    assert q.now == 1, "it still knows the time, but"
    assert q.answer() == [], "hears of nothing any more"
    with pytest.raises(NameNotFoundError, match="there is no query x"):
        s.drop("x")


def test_a_session_lists_its_queries_and_gives_the_time_as_users_write_it() -> None:
    s = tw.local()
    s.execute("CREATE STREAM ev (ts TIMESTAMP, a INT) TIMESTAMP BY ts; REGISTER QUERY early AS SELECT a FROM ev")
    assert s.now is None
    s.push("ev", [("2026-01-31 07:00:00", 1)])
    q = s.query(s.table("ev").where("a > 0").plan)
    assert s.now == q.now == datetime(2026, 1, 31, 7)
    assert [(i.name, i.state, i.since) for i in s.queries()] == [
        ("early", QueryState.RUNNING, None), ("q2", QueryState.RUNNING, datetime(2026, 1, 31, 7)),
    ]  # fmt: skip
    assert s.get_query("EARLY").answer() == [(1,)]
    with pytest.raises(NameNotFoundError, match="did you mean early"):
        s.get_query("earli")
    with pytest.raises(PlanError, match="a query called Early already"):
        s.query("SELECT a FROM ev", name="Early")


def test_rows_that_wait_and_late_rows_are_counted() -> None:
    s = session("CREATE STREAM slow (a INT) LATENESS 3")
    q = s.query("SELECT a FROM slow [RANGE 9]")
    s.push("slow", [(5, 50), (8, 80), (4, 41)])
    q.answer()
    assert (q.metrics().now, q.metrics().waiting, q.metrics().late) == (5, 1, {"slow": 1})
