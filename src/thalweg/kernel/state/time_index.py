"""Tuples of a key that are alive in an interval, found as one slice."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.core.time import FOREVER

_BITS = 62  # for a code and a time together


class TimeIndex:
    """Intervals in order of (code, start), with the latest end so far beside them.

    A search finds the tuples that start before `until`, less the first ones, which have all ended by `since`. While
    tuples end in the order they start in (FIFO), that is exactly the tuples alive in between; else some more.
    """

    def __init__(self, codes: Ints, start: Ints, end: Ints) -> None:
        self._last_code = int(codes.max(initial=-1)) + 1  # of a key that is not here
        self._base = int(start.min(initial=FOREVER))
        self._top = max(int(start.max(initial=self._base)), int(end.max(initial=self._base, where=end < FOREVER)))
        time_bits = (self._top + 1 - self._base).bit_length()
        # If a code and a time do not fit, times are told apart less finely: more is found, nothing is missed.
        self._coarse = max(0, time_bits + self._last_code.bit_length() - _BITS)
        self._time_bits = max(0, time_bits - self._coarse)
        packed = self._pack(codes, start)
        self.order = np.argsort(packed)
        self._starts = packed[self.order]
        self._ends = np.maximum.accumulate(self._pack(codes, end)[self.order])  # a higher code exceeds all before

    def find(self, codes: Ints, since: Ints, until: Ints) -> tuple[Ints, Ints]:
        """For each code and interval [since, until) the first place in `order` and the number of places."""
        known = np.minimum(codes, self._last_code)
        begun = self._pack(known, until)
        ended = self._pack(known, np.minimum(since, self._top))  # beyond, only what never ends is alive
        if self._coarse:
            last, first = np.searchsorted(self._starts, begun, "right"), np.searchsorted(self._ends, ended, "left")
        else:
            last, first = np.searchsorted(self._starts, begun, "left"), np.searchsorted(self._ends, ended, "right")
        return first, np.maximum(last - first, 0)

    def _pack(self, codes: Ints, times: Ints) -> Ints:
        ticks = np.maximum(np.minimum(times, self._top + 1), self._base) - self._base
        return (codes << self._time_bits) | (ticks >> self._coarse)
