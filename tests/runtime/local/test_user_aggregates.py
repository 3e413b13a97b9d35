"""Aggregates of users in sessions: would catch a query that cannot call one, or one that brings others down."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import StatisticsError, median

import pytest

import thalweg as tw
from runtime.local.made import session
from thalweg.core.errors import UserFunctionError

med = tw.aggregate(returns=float, takes=float, name="med")(median)


@tw.aggregate(returns=str)
def chain(values: Sequence[object]) -> str:
    if len(values) > 2:
        raise ValueError("too long")
    return "-".join(map(str, values))


def test_a_query_with_aggregates_of_both_kinds() -> None:
    s = session()
    s.register(med, chain)
    q = s.query(
        "SELECT b, MED(a) AS middle, COUNT(*) AS n, chain(DISTINCT a) FILTER (WHERE a < 9) AS small FROM s [RANGE 5] "
        "GROUP BY b HAVING med(a) > 0"
    )
    assert str(q.schema) == "(b STRING, middle DOUBLE, n BIGINT, small STRING)"
    s.push("s", [(1, 4, "x"), (1, None, "x"), (2, 9, "x"), (2, 4, "x"), (3, -1, "y"), (3, None, "z")])
    assert q.answer() == [("x", 4.0, 4, "4")]
    s.advance(6)
    assert q.answer() == [("x", 6.5, 2, "4")]
    assert [c for c in q.changes() if c[0] >= 6] == [(6, -1, ("x", 4.0, 4, "4")), (6, 1, ("x", 6.5, 2, "4"))]


def test_over_nothing_the_definition_has_the_say() -> None:
    s = session()
    s.register(med, chain)
    with pytest.raises(StatisticsError):
        med([])
    assert s.query("SELECT med(a), chain(a) FROM s [NOW]").answer() == [(None, "")]


def test_views_and_scripts_know_it() -> None:
    s = session()
    s.register(med)
    (q,) = s.execute("CREATE VIEW m AS SELECT b, med(a) AS m FROM s [ROWS 3] GROUP BY b; SELECT MAX(m) FROM m")
    s.push("s", [(1, 4, "x"), (2, 6, "x")])
    assert q.answer() == [(5.0,)]


def test_a_query_that_fails_does_not_harm_the_others() -> None:
    s = session()
    s.register(chain)
    bad, good = s.query("SELECT chain(a) FROM s [ROWS 9]"), s.query("SELECT COUNT(*) FROM s [ROWS 9]")
    s.push("s", [(t, t, "x") for t in range(3)])
    for _ in range(2):
        with pytest.raises(UserFunctionError, match="CHAIN raised ValueError over 3 values: too long"):
            bad.answer()
    assert good.answer() == [(3,)]


def test_the_reference_reports_the_same_mistake() -> None:
    s = session()
    s.register(chain)
    q = s.query("SELECT chain(a) FROM s [ROWS 9]", strategy="reference")
    s.push("s", [(t, t, "x") for t in range(3)])
    with pytest.raises(UserFunctionError, match="CHAIN raised ValueError over 3 values: too long"):
        q.answer()
