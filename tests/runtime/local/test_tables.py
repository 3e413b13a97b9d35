"""Tables that change under standing queries; would catch an update lost, applied twice, or dated wrongly."""

from __future__ import annotations

from datetime import datetime

import pytest

import thalweg as tw
from runtime.local.made import session
from thalweg.core.errors import DataError


def test_tables_change_by_key() -> None:
    s = session(
        "CREATE RELATION rel (k INT PRIMARY KEY, name STRING); CREATE NRR meta (k INT PRIMARY KEY, name STRING)"
    )
    now = s.query("SELECT a, name FROM s [RANGE 10] JOIN rel ON k = a")
    then = s.query("SELECT a, name FROM s [RANGE 10] JOIN meta ON k = a")
    for table in ("rel", "meta"):
        s.insert(table, [(1, "one"), {"k": 2, "name": "two"}])
    s.push("s", [(1, 1, "x"), (1, 2, "y")])
    for table in ("rel", "meta"):
        s.update(table, [(1, "ONE")], at=3)
        s.delete(table, [2], at=4)
    s.push("s", [(5, 1, "x"), (5, 2, "y")])
    assert now.answer(at=2) == then.answer(at=2) == [(1, "one"), (2, "two")]
    assert now.answer() == [(1, "ONE"), (1, "ONE")], "retroactive: as the table is now"
    assert then.answer() == [(1, "ONE"), (1, "one"), (2, "two")], "not retroactive: as it was for each tuple"


def test_a_query_over_a_table_alone_follows_its_updates() -> None:
    s = session("CREATE RELATION rel (k INT PRIMARY KEY, name STRING)")
    q = s.query("SELECT count(*) FROM rel")
    s.insert("rel", [(1, "one")], at=1)
    s.insert("rel", [(2, "two")], at=4)
    assert q.changes() == [(1, 1, (1,)), (4, -1, (1,)), (4, 1, (2,))]


def test_a_table_loaded_before_time_starts_shows_at_the_first_instant_however_it_is_read() -> None:
    s = session("CREATE RELATION rel (k INT PRIMARY KEY, name STRING)")
    often, once = s.query("SELECT count(*) FROM rel"), s.query("SELECT count(*) FROM rel")
    s.insert("rel", [(1, "one")])
    assert often.changes() == []
    s.insert("rel", [(2, "two")])
    assert often.changes() == []
    s.insert("rel", [(3, "three")], at=3)
    assert often.changes() == once.changes() == [(3, 1, (3,))]


def test_a_table_alone_follows_the_clock_of_its_session() -> None:
    s = tw.local()
    s.execute("CREATE STREAM ev (ts TIMESTAMP) TIMESTAMP BY ts; CREATE RELATION rel (k INT PRIMARY KEY)")
    q = s.query("SELECT k FROM rel")
    s.insert("rel", [(1,)], at="2026-01-01")
    assert q.changes() == [(datetime(2026, 1, 1), 1, (1,))]
    assert q.answer(at=datetime(2026, 1, 1)) == [(1,)]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s: s.insert("rel", [(1, "again")]), "already has a row with key 1"),
        (lambda s: s.insert("rel", [(7, "a"), (7, "b")]), "the key 7 of rel stands twice in one call"),
        (lambda s: s.update("rel", [(1, "a"), (1, "b")]), "the key 1 of rel stands twice in one call"),
        (lambda s: s.delete("rel", [1, 1]), "the key 1 of rel stands twice in one call"),
        (lambda s: s.delete("rel", [9]), "has no row with key 9"),
        (lambda s: s.update("rel", [(9, "x")]), "has no row with key 9"),
        (lambda s: s.delete("rel", [(1, 2, 3)]), r"the key of rel is \(k\)"),
        (lambda s: s.insert("s", [(1, "x")]), "s is not a relation"),
        (lambda s: s.insert("rel", [("x", "y")]), "row 0 for rel: column k wants BIGINT, got 'x'"),
        (lambda s: s.insert("rel", [(5, "x")], at=0), "cannot change at 0: time has come to 2"),
    ],
)
def test_table_changes_that_are_refused(act: object, message: str) -> None:
    s = session("CREATE RELATION rel (k INT PRIMARY KEY, name STRING)")
    s.insert("rel", [(1, "one")])
    s.query("SELECT name FROM s [RANGE 5] JOIN rel ON k = a")
    s.push("s", [(2, 1, "x")])
    with pytest.raises(DataError, match=message):
        act(s)  # type: ignore[operator]


def test_a_chain_of_joins_with_grouped_and_plain_tables() -> None:
    s = session("CREATE RELATION rel (k INT PRIMARY KEY, name STRING)")
    q = s.query(
        "SELECT s.a, n, rel.name FROM s [RANGE 5], (SELECT name, count(*) AS n FROM rel GROUP BY name) g, rel "
        "WHERE g.name = s.b AND rel.k = s.a"
    )
    s.insert("rel", [(1, "x"), (2, "x")])
    s.push("s", [(1, 1, "x")])
    assert q.answer() == [(1, 2, "x")]
    s.delete("rel", [2])
    assert q.answer() == [(1, 1, "x")]
