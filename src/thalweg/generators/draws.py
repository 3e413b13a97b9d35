"""Random numbers that depend only on a seed, a purpose and a row number.

No state passes from row to row, so rows i to j of a stream can be made without the rows before them; therefore a source
can return to any offset. The mixing function is that of SplitMix64, whose i-th state is key + i * GOLDEN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from thalweg.core.lanes import Ints

Words = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_QUARTER = np.uint64(0xFFFF)
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


@dataclass(frozen=True)
class Draws:
    """The random numbers of some rows; draws with different `what` are independent."""

    seed: int
    rows: Ints

    def at(self, rows: Ints) -> Draws:
        """The same stream's numbers for other rows."""
        return replace(self, rows=rows)

    def bits(self, what: str) -> Words:
        """64 random bits for each row."""
        words = self.rows.astype(np.uint64) * _GOLDEN + _key(self.seed, what)
        for shift, factor in _MIXERS:
            words ^= words >> np.uint64(shift)
            words *= np.uint64(factor)
        return words ^ (words >> np.uint64(31))

    def uniform(self, what: str) -> Reals:
        """Uniform numbers from [0, 1)."""
        return np.asarray((self.bits(what) >> np.uint64(11)) * 2.0**-53, dtype=np.float64)

    def below(self, what: str, bound: int | Ints) -> Ints:
        """Uniform integers from [0, bound); each row may have a bound of its own."""
        return np.asarray(np.minimum((self.uniform(what) * bound).astype(np.int64), np.asarray(bound) - 1))

    def exponential(self, what: str, mean: float) -> Reals:
        """Exponentially distributed numbers."""
        return -mean * np.log1p(-self.uniform(what))

    def normal(self, what: str) -> Reals:
        """Numbers around 0 with standard deviation 1, never beyond 3.5: four uniform ones added up."""
        words = self.bits(what)
        total = words & _QUARTER
        for shift in (16, 32, 48):
            total += (words >> np.uint64(shift)) & _QUARTER
        return np.asarray((total.astype(np.float64) - 2 * 65_535) * (3**0.5 / 65_536))

    def zipf(self, what: str, values: int, skew: float) -> Ints:
        """Ranks 0 .. values-1, the k-th with weight 1 / (k+1)^skew; with skew 0 all are equally frequent."""
        return np.searchsorted(_zipf_bounds(values, skew), self.uniform(what), side="right").astype(np.int64)

    def choose(self, what: str, weights: tuple[float, ...]) -> Ints:
        """Positions in `weights`, with these weights."""
        return np.searchsorted(_bounds(np.array(weights)), self.uniform(what), side="right").astype(np.int64)


def _bounds(weights: Reals) -> Reals:
    """The upper bound in [0, 1) of each value but the last, whose bound is 1, free of rounding errors."""
    return np.asarray(np.cumsum(weights)[:-1] / weights.sum())


@lru_cache(maxsize=64)
def _zipf_bounds(values: int, skew: float) -> Reals:
    return _bounds(np.arange(1, values + 1, dtype=np.float64) ** -skew)


@lru_cache(maxsize=1024)
def _key(seed: int, what: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(f"{seed}/{what}".encode(), digest_size=8).digest(), "little"))
