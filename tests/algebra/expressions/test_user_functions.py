"""Would catch a user's function that gives other values in the kernel than in the reference, or fails silently."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from typing import Any

import pytest

import thalweg as tw
from thalweg.core.errors import NameNotFoundError, PlanError, TypeMismatchError, UserFunctionError


@tw.function(returns=bool, takes=str)
def palindrome(text: str) -> bool:
    return text == text[::-1]


@tw.function(returns=float, takes=[float, int])
def scaled(x: float, n: int) -> float | None:
    return None if n == 0 else x * n


@tw.function(returns=datetime, takes=[datetime, timedelta])
def later(t: datetime, by: timedelta) -> datetime:
    return t + by


@tw.function(returns=int, takes=int)
def picky(n: int) -> Any:
    if n == 13:
        raise ValueError("unlucky")
    return "many" if n == 99 else n


def session() -> tw.Session:
    made = tw.local()
    made.register(palindrome, scaled, later, picky)
    made.execute("CREATE STREAM s (a INT, b STRING, x DOUBLE)")
    return made


ROWS = [(1, 0, "anna", 1.5), (2, 3, "bob", None), (3, None, "carl", 2.0), (4, 3, None, 0.5), (5, 3, "bob", 4.0)]


@pytest.mark.parametrize("strategy", ["auto", "nt", "reference", "piggyback"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT b FROM s [RANGE 9] WHERE palindrome(b)", [("anna",), ("bob",), ("bob",)]),
        ("SELECT a, SCALED(x, a) AS y FROM s [RANGE 9] WHERE x > 1", [(None, None), (0, None), (3, 12.0)]),
        ("SELECT SUM(scaled(a, 2)) AS n FROM s [RANGE 9] WHERE NOT palindrome(b) OR a = 3", [(18.0,)]),
        ("SELECT picky(picky(a) + 1) AS n, COUNT(*) AS c FROM s [RANGE 9] WHERE a > 0 GROUP BY picky(picky(a) + 1)",
         [(4, 3)]),
    ],
)  # fmt: skip
def test_every_strategy_gives_its_values(query: str, expected: list[tuple[Any, ...]], strategy: str) -> None:
    made = session()
    asked = made.query(query, strategy=strategy)
    made.push("s", ROWS)
    assert sorted(asked.answer(), key=repr) == sorted(expected, key=repr)


def test_timestamps_are_datetimes() -> None:
    made = tw.local()
    made.register(later)
    made.execute("CREATE STREAM e (ts TIMESTAMP) TIMESTAMP BY ts")
    asked = made.query("SELECT LATER(ts, INTERVAL '1' HOUR) AS t FROM e [RANGE 1 MINUTE]")
    made.push("e", [(datetime(2026, 1, 31, 7),)])
    assert asked.answer() == [(datetime(2026, 1, 31, 8),)]


def test_equal_arguments_are_asked_once_a_batch() -> None:
    calls = []

    @tw.function(returns=int, takes=int)
    def counted(n: int) -> int:
        calls.append(n)
        return n

    made = tw.local()
    made.register(counted)
    made.execute("CREATE STREAM s (a INT)")
    asked = made.query("SELECT counted(a) AS n FROM s [RANGE 99]")
    made.push("s", [(t, t % 3) for t in range(60)])
    assert len(asked.answer()) == 60
    assert sorted(calls) == [0, 1, 2]


def test_what_it_raises_is_reported() -> None:
    made = session()
    asked = made.query("SELECT picky(a) AS n FROM s [RANGE 9]")
    made.push("s", [(1, 13, "x", 0.0)])
    with pytest.raises(UserFunctionError, match=r"the function PICKY raised ValueError for \(13\): unlucky"):
        asked.answer()
    other = session()
    asked = other.query("SELECT picky(a) AS n FROM s [RANGE 9]")
    other.push("s", [(1, 99, "x", 0.0)])
    with pytest.raises(UserFunctionError, match=r"PICKY returns BIGINT, but for \(99\) it gave 'many' \(str\)"):
        asked.answer()


def test_it_is_called_with_its_types() -> None:
    made = session()
    with pytest.raises(TypeMismatchError, match=r"PALINDROME does not take \(BIGINT\)"):
        made.query("SELECT palindrome(a) AS p FROM s")
    with pytest.raises(NameNotFoundError, match="did you mean PALINDROME"):
        made.query("SELECT palindrom(b) AS p FROM s")


def test_names_are_taken_once() -> None:
    made = session()
    made.register(palindrome)  # the same again

    with pytest.raises(PlanError, match="there is a function called PALINDROME already"):
        made.register(tw.function(returns=bool, takes=str, name="palindrome")(lambda text: True))
    with pytest.raises(PlanError, match="LENGTH is a function of CQL"):
        made.register(tw.function(returns=int, takes=str, name="length")(len))
    with pytest.raises(TypeMismatchError, match="cannot return list"):
        tw.function(returns=list, takes=str)(len)


def test_it_travels_to_other_processes_by_name() -> None:
    assert pickle.loads(pickle.dumps(palindrome)) is palindrome
    plan = session().query("SELECT b FROM s [RANGE 9] WHERE palindrome(b)").plan
    assert pickle.loads(pickle.dumps(plan)) == plan
