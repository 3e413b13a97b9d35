"""The four update patterns, and what is known about the end of a result (GolabOzsu2005 §3; PatroumpasSellis2011 §4).

The pattern is the papers' label. Two facts stand beside it, because the label alone does not choose a buffer:
`Expiry` says how the end of a result becomes known, `Leaving` in which order results end.
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
    """How the end of a result becomes known; of several inputs the greatest rules."""

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


class Leaving(IntEnum):
    """The order in which results leave; a greater one is known less well."""

    FIFO = 0  # as they came
    TOTAL = 1  # of any two it is known which leaves first
    PER_KEY = 2  # only of two with the same partitioning key (PARTITION BY)
    PER_SIDE = 3  # each result carries the orders of several inputs, which do not compare
    UNKNOWN = 4


@dataclass(frozen=True)
class Edge:
    """What a plan's output looks like to whoever consumes it, and why.

    `window` is the one time window that all results come from with their dates unchanged, if there is one.
    """

    pattern: Pattern
    expiry: Expiry
    why: str
    leaving: Leaving = Leaving.UNKNOWN
    window: Window | None = None
