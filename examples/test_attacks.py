"""Tests of a standing query, with the clock in the test's hand.

    pytest examples/test_attacks.py

Three failed logins within a minute are an attack; it is over when the first of them is a minute old.
"""

import pytest

import thalweg as tw

STREAMS = "CREATE STREAM logins (name STRING, ok BOOLEAN)"
ATTACKED = "SELECT name, COUNT(*) AS n FROM logins [RANGE 60] WHERE NOT ok GROUP BY name HAVING COUNT(*) >= 3"


@pytest.fixture
def s() -> tw.Session:
    session = tw.local()
    session.execute(STREAMS)
    return session


def test_three_failures_within_a_minute(s: tw.Session) -> None:
    q = s.query(ATTACKED)
    s.push("logins", [(1, "ann", False), (20, "ann", False), (30, "bob", False), (59, "ann", False)])
    assert q.answer(at=58) == []
    assert q.answer(at=59) == [("ann", 3)]


def test_successes_do_not_count(s: tw.Session) -> None:
    q = s.query(ATTACKED)
    s.push("logins", [(t, "ann", t == 2) for t in (1, 2, 3)])
    assert q.answer() == []


def test_it_is_over_when_time_has_passed(s: tw.Session) -> None:
    q = s.query(ATTACKED)
    s.push("logins", [(1, "ann", False), (20, "ann", False), (59, "ann", False)])
    s.advance(61)  # nothing arrives
    assert q.changes() == [(59, +1, ("ann", 3)), (61, -1, ("ann", 3))]


@pytest.mark.parametrize("strategy", ["reference", "auto", "nt"])
def test_every_strategy_gives_the_same_changes(s: tw.Session, strategy: str) -> None:
    q = s.query(ATTACKED, strategy=strategy)
    s.push("logins", [(t, "ann", t % 5 == 0) for t in range(1, 9)])
    s.advance(100)
    assert q.changes()[0] == (3, +1, ("ann", 3))
    assert q.answer() == []
