"""Rates, sizes and distinct values while a join runs, and when they have drifted too far from what an order was for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.time import Instant
from thalweg.kernel.multi_join.coded import Coding
from thalweg.kernel.multi_join.stored import Stored
from thalweg.kernel.state.snapshot import Stateful

_FEW = 64  # arrivals from which a rate can be told
_MANY = 2048  # arrivals that pay for a search among the orders of six streams
_SLOW = 0.02  # of all arrivals: slower streams count as alike
_SMALL = 20.0  # tuples or values: so do smaller windows


class Monitor(Stateful, kind="multi-join-monitor/1"):
    """Looks soon, then ever less often, at last when as many tuples have come as half of those stored.

    So what looking and choosing cost, each tuple pays a little of.
    """

    KEPT: ClassVar[tuple[str, ...]] = (
        "_since",
        "_look_after",
        "_arrival_counts",
        "_rates",
        "_sizes",
        "_distinct_values",
    )

    def __init__(self, inputs: int, attributes: int, drift: float) -> None:
        """`drift` is the factor by which something must have changed."""
        self._drift = drift
        self._attributes = attributes
        self._since: Instant | None = None
        self._look_after = _FEW  # arrivals until the next look
        self._arrival_counts = [0] * inputs
        self._rates: list[float] = []  # those that the last orders were chosen by
        self._sizes: list[float] = []
        self._distinct_values: list[list[float | None]] = []

    @property
    def statistics(self) -> list[StreamStatistics] | None:
        """What the last orders were chosen by; None before there was anything to choose by."""
        told = zip(self._rates, self._sizes, self._distinct_values, strict=True)
        return [StreamStatistics(rate, size, tuple(values)) for rate, size, values in told] or None

    def arrived(self, counts: Sequence[int], first: Instant) -> None:
        """So many new tuples of each input, the first of them at an instant."""
        if self._since is None and any(counts):
            self._since = first
        self._arrival_counts = [before + count for before, count in zip(self._arrival_counts, counts, strict=True)]

    def look(self, stored: Sequence[Stored], codings: Sequence[Coding], now: Instant) -> bool:
        """Whether the orders should be chosen anew; if so, `statistics` are those of now."""
        many = sum(self._arrival_counts)
        if self._since is None or now <= self._since or many < max(self._look_after, sum(s.size for s in stored) // 2):
            return False
        ticks = now - self._since
        rates = [(count + 1) / ticks for count in self._arrival_counts]  # nothing yet is not never
        sizes = [float(max(1, s.size)) for s in stored]
        values = [self._distinct(s, coding) for s, coding in zip(stored, codings, strict=True)]
        self._since, self._arrival_counts, self._look_after = (
            now,
            [0] * len(self._arrival_counts),
            min(2 * self._look_after, _MANY),
        )
        if self._rates and not self._has_drifted(rates, sizes, values):
            return False
        self._rates, self._sizes, self._distinct_values = rates, sizes, values
        return True

    def _distinct(self, stored: Stored, coding: Coding) -> list[float | None]:
        """By attribute the values in a window."""
        found: list[float | None] = [None] * self._attributes
        for attribute in coding.attributes:
            found[attribute] = _values([run.columns[coding.place(attribute)] for run in stored.runs])
        return found

    def _has_drifted(self, rates: list[float], sizes: list[float], distinct: list[list[float | None]]) -> bool:
        def flat(rates: list[float], sizes: list[float], distinct: list[list[float | None]]) -> list[float]:
            # All rates may rise alike: what counts is how they compare. What is small varies by chance.
            shares = [max(rate / sum(rates), _SLOW) for rate in rates]
            counts = [*sizes, *(v for row in distinct for v in row if v is not None)]
            return shares + [max(count, _SMALL) for count in counts]

        now, then = flat(rates, sizes, distinct), flat(self._rates, self._sizes, self._distinct_values)
        return any(max(a / b, b / a) > self._drift for a, b in zip(now, then, strict=True))


def _values(lanes: Sequence[Ints]) -> float:
    """How many values tuples have: as many, all alike, as would make two tuples meet as often as these do.

    Where all values are there and alike that is their number. Of few tuples it is those that may still come, which
    their number is not; of values that are not alike it is less, and joins are as much larger.
    """
    codes = np.concatenate(lanes) if lanes else np.empty(0, dtype=np.int64)
    times = np.bincount(codes).astype(np.float64)
    meetings = float((times * (times - 1)).sum())
    pairs = float(len(codes)) * (len(codes) - 1)
    return max(1.0, float(np.count_nonzero(times)) if not meetings else pairs / meetings)
