"""The four update patterns, and what is known about the expiry of results (GolabOzsu2005 §3; PatroumpasSellis2011 §4).

The pattern is the papers' label. The label alone does not determine a buffer, so an edge has two more properties:
`Expiry` says how the end of a result becomes known, `ExpiryOrder` in which order results expire.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from thalweg.algebra.windows import Window


class Pattern(IntEnum):
    """How results come and go; a greater pattern is harder to maintain."""

    MON = 0
    WKS = 1
    WK = 2
    STR = 3

    @property
    def full_name(self) -> str:
        """The papers' name of the pattern."""
        return _FULL_NAMES[self]

    @property
    def meaning(self) -> str:
        """What the pattern promises, in one clause."""
        return _MEANINGS[self]


_FULL_NAMES = {
    Pattern.MON: "monotonic",
    Pattern.WKS: "weakest non-monotonic",
    Pattern.WK: "weak non-monotonic",
    Pattern.STR: "strict non-monotonic",
}

_MEANINGS = {
    Pattern.MON: "results come and stay",
    Pattern.WKS: "results leave in the order in which they came",
    Pattern.WK: "results leave out of order, but their end is known beforehand",
    Pattern.STR: "some results leave before their time",
}


class Expiry(IntEnum):
    """How the end of a result becomes known; of several inputs the greatest decides."""

    NEVER = 0
    TIME = 1
    ORDER = 2
    REPLACEMENT = 3
    NEGATIVE = 4

    @property
    def meaning(self) -> str:
        """The same in one clause."""
        return _ENDS[self]


_ENDS = {
    Expiry.NEVER: "a result never ends",
    Expiry.TIME: "exp is known with the result",
    Expiry.ORDER: "an order, not a time: later tuples push a result out",
    Expiry.REPLACEMENT: "the next value of its group replaces a result",
    Expiry.NEGATIVE: "a negative tuple must say it",
}


class ExpiryOrder(IntEnum):
    """What is known about the order in which results expire; a greater member stands for less knowledge."""

    FIFO = 0  # in order of arrival
    TOTAL = 1  # of any two results it is known which expires first
    PER_KEY = 2  # known only for results with the same partitioning key (PARTITION BY)
    PER_SIDE = 3  # each result has the orders of several inputs, which cannot be compared
    UNKNOWN = 4


@dataclass(frozen=True)
class Edge:
    """The label of a plan's output, as the operator above sees it, and the reason for it.

    `window` is the time window whose dates all results have, if there is exactly one.
    """

    pattern: Pattern
    expiry: Expiry
    why: str
    expiry_order: ExpiryOrder = ExpiryOrder.UNKNOWN
    window: Window | None = None
