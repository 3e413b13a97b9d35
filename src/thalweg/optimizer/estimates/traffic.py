"""The estimated traffic over an edge of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erf, exp, pi, prod, sqrt


@dataclass(frozen=True)
class Traffic:
    """`rate` results per tick, `size` of them alive at a time, and for each column how many `distinct` values it has.

    `negative` is the number of negative tuples per result: 0 where expiries are known in advance (direct), 1 where each
    expiry is a negative tuple (NT), in between where some results are deleted early. `premature` is the share of
    results that are deleted early.
    """

    rate: float
    size: float
    distinct: tuple[float, ...]
    negative: float = 0.0
    premature: float = 0.0

    @property
    def messages(self) -> float:
        """Tuples per tick, positive and negative."""
        return self.rate * (1 + self.negative)

    @property
    def lifetime(self) -> float:
        """How many ticks a result stays alive on average (Little's law)."""
        return self.size / self.rate if self.rate else 0.0

    def combinations(self, columns: Sequence[int]) -> float:
        """How many combinations of values some columns have: at most one per result."""
        return max(1.0, min(self.size, prod(self.distinct[c] for c in columns)))

    def scaled(self, share: float) -> Traffic:
        """The traffic of a share of the results."""
        size = self.size * share
        return replace(self, rate=self.rate * share, size=size, distinct=capped(self.distinct, size))


def capped(distinct: Sequence[float], size: float) -> tuple[float, ...]:
    """Numbers of distinct values, none larger than the number of results."""
    return tuple(max(1.0, min(d, size)) for d in distinct)


@dataclass(frozen=True)
class Surplus:
    """The excess A - B of two counts with means `a` and `b`, which are Poisson distributed and taken as normal."""

    a: float
    b: float

    @property
    def likely(self) -> float:
        """P(A > B)."""
        return (1 + erf(self._z / sqrt(2))) / 2

    @property
    def expected(self) -> float:
        """E[max(0, A - B)]."""
        density = exp(-self._z * self._z / 2) / sqrt(2 * pi)
        return max(0.0, self._spread * density + (self.a - self.b) * self.likely)

    @property
    def _spread(self) -> float:
        return sqrt(self.a + self.b) or 1.0

    @property
    def _z(self) -> float:
        return (self.a - self.b) / self._spread
