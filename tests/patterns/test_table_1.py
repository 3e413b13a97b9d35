"""Would catch a window or operator that is classified otherwise than Table 1 of PatroumpasSellis2011 classifies it.

One cell differs on purpose: aggregates over landmarks replace values, so they are weak, as that paper's text says.
"""

from __future__ import annotations

from itertools import product

import pytest

from patterns.plans import (
    BINARY,
    LANDMARK,
    PARTITIONED,
    S1,
    S2,
    SLIDING,
    TUMBLING,
    UNARY,
    VALUE,
    WINDOWS,
    group_by,
    join,
)
from thalweg.algebra.plan import Plan, Windowed
from thalweg.algebra.windows import Landmark, Range, Window
from thalweg.patterns import Expiry, Pattern, derive

MON, WKS, WK, STR = Pattern
OPERATORS = ["selection", "projection", "union", "distinct", "join", "group-by", "negation"]
VARIANTS: list[tuple[str, dict[str, Window], Pattern, list[Pattern]]] = [
    ("sliding", SLIDING, WKS, [WKS, WKS, WKS, WK, WK, WK, STR]),
    ("tumbling", TUMBLING, WK, [WK, WK, WK, WK, WK, WK, STR]),
    ("partitioned", PARTITIONED, WK, [WK, WK, WK, WK, WK, WK, STR]),
    ("value", VALUE, WK, [WK, WK, WK, WK, WK, WK, STR]),
    ("landmark", LANDMARK, MON, [MON, MON, MON, MON, MON, WK, STR]),
]
CELLS = [
    pytest.param(window, operator, expected, id=f"{operator} over {name}")
    for _, kinds, _, row in VARIANTS
    for name, window in kinds.items()
    for operator, expected in zip(OPERATORS, row, strict=True)
]


def over(operator: str, left: Window, right: Window) -> Plan:
    """The operator over a window of s1 and, if it takes two, one of s2."""
    if operator in UNARY:
        return UNARY[operator](Windowed(S1, left))
    return BINARY[operator](Windowed(S1, left), Windowed(S2, right))


@pytest.mark.parametrize(("window", "operator", "expected"), CELLS)
def test_table_1(window: Window, operator: str, expected: Pattern) -> None:
    assert derive(over(operator, window, window)).pattern is expected


@pytest.mark.parametrize(
    ("window", "expected"), [(w, expected) for _, kinds, expected, _ in VARIANTS for w in kinds.values()], ids=str
)
def test_a_window_alone(window: Window, expected: Pattern) -> None:
    assert derive(Windowed(S1, window)).pattern is expected


@pytest.mark.parametrize("operator", BINARY)
def test_proposition_9_the_stronger_window_dominates(operator: str) -> None:
    """The operator over two kinds of windows is what it is over two windows of the stronger kind."""
    for left, right in product(WINDOWS.values(), repeat=2):
        stronger = max((left, right), key=lambda w: derive(Windowed(S1, w)).pattern)
        mixed = derive(over(operator, left, right)).pattern
        assert mixed is derive(over(operator, stronger, stronger)).pattern, (left, right)


def test_query_q3_joins_a_landmark_with_a_sliding_window() -> None:
    joined = join(Windowed(S1, Landmark(start=7)), Windowed(S2, Range(60, 1)))
    assert derive(joined).pattern is WK
    assert derive(group_by(joined, 0)).pattern is WK


def test_an_aggregate_over_a_landmark_is_weak_and_ends_by_replacement() -> None:
    edge = derive(group_by(Windowed(S1, Landmark(start=7)), 0))
    assert (edge.pattern, edge.expiry) == (WK, Expiry.REPLACEMENT)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("range", Expiry.TIME),
        ("now", Expiry.TIME),
        ("tumbling", Expiry.TIME),
        ("rows", Expiry.ORDER),
        ("tumbling rows", Expiry.ORDER),
        ("partitioned", Expiry.ORDER),
        ("partitioned range", Expiry.ORDER),
        ("value", Expiry.ORDER),
        ("unbounded", Expiry.NEVER),
        ("from until", Expiry.NEVER),
    ],
)
def test_how_the_end_of_a_windowed_tuple_is_known(name: str, expected: Expiry) -> None:
    assert derive(Windowed(S1, WINDOWS[name])).expiry is expected
