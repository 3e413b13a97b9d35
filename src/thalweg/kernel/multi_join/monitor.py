"""Run-time statistics of a multi-way join: rates, window sizes and distinct values; and when they have drifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from thalweg.core.lanes import Ints
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.time import Instant
from thalweg.kernel.multi_join.coding import InputCoding
from thalweg.kernel.multi_join.stored_input import StoredInput
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.tuning import DEFAULT, Tuning

_LEAST_SHARE_OF_ARRIVALS = 0.02  # slower streams are treated as having this share
_LEAST_COUNT = 20.0  # fewer tuples or values vary by chance, and are treated as so many


class Monitor(Stateful, kind="multi-join-monitor/1"):
    """Measures after a few arrivals, then less often, at last whenever half as many tuples arrived as are stored.

    So the cost of measuring and choosing orders is a small share of the cost of each arrival.
    """

    KEPT: ClassVar[tuple[str, ...]] = (
        "_since",
        "_look_after",
        "_arrival_counts",
        "_rates",
        "_sizes",
        "_distinct_values",
    )

    def __init__(self, inputs: int, attributes: int, drift: float, tuning: Tuning = DEFAULT) -> None:
        """`drift` is the factor by which some statistic must change before orders are chosen again."""
        self._drift = drift
        self._look_at_least_every = tuning.look_at_least_every
        self._attributes = attributes
        self._since: Instant | None = None
        self._look_after = tuning.first_look_after  # arrivals
        self._arrival_counts = [0] * inputs
        self._rates: list[float] = []  # of the last choice of orders, like sizes and distinct values
        self._sizes: list[float] = []
        self._distinct_values: list[list[float | None]] = []

    @property
    def statistics(self) -> list[StreamStatistics] | None:
        """The statistics of the last choice of orders; None before the first measurement."""
        inputs = zip(self._rates, self._sizes, self._distinct_values, strict=True)
        return [StreamStatistics(rate, size, tuple(values)) for rate, size, values in inputs] or None

    def count_arrivals(self, counts: Sequence[int], first: Instant) -> None:
        """Add the numbers of new tuples of each input; `first` is the start of the first of them."""
        if self._since is None and any(counts):
            self._since = first
        self._arrival_counts = [before + count for before, count in zip(self._arrival_counts, counts, strict=True)]

    def measure(self, stored: Sequence[StoredInput], codings: Sequence[InputCoding], now: Instant) -> bool:
        """Measure if it is time to; return whether statistics have drifted, and `statistics` are new."""
        wanted = max(self._look_after, sum(s.size for s in stored) // 2)
        if self._since is None or now <= self._since or sum(self._arrival_counts) < wanted:
            return False
        ticks = now - self._since
        rates = [(count + 1) / ticks for count in self._arrival_counts]  # so that no rate is 0
        sizes = [float(max(1, s.size)) for s in stored]
        values = [self._distinct(s, coding) for s, coding in zip(stored, codings, strict=True)]
        self._since, self._arrival_counts, self._look_after = (
            now,
            [0] * len(self._arrival_counts),
            min(2 * self._look_after, self._look_at_least_every),
        )
        if self._rates and not self._has_drifted(rates, sizes, values):
            return False
        self._rates, self._sizes, self._distinct_values = rates, sizes, values
        return True

    def _distinct(self, stored: StoredInput, coding: InputCoding) -> list[float | None]:
        """By attribute the number of distinct values in a window; None for attributes that the input lacks."""
        found: list[float | None] = [None] * self._attributes
        for attribute in coding.attributes:
            found[attribute] = _distinct_values([run.columns[coding.code_column(attribute)] for run in stored.runs])
        return found

    def _has_drifted(self, rates: list[float], sizes: list[float], distinct: list[list[float | None]]) -> bool:
        def flat(rates: list[float], sizes: list[float], distinct: list[list[float | None]]) -> list[float]:
            # Rates matter relative to each other only.
            shares = [max(rate / sum(rates), _LEAST_SHARE_OF_ARRIVALS) for rate in rates]
            counts = [*sizes, *(v for row in distinct for v in row if v is not None)]
            return shares + [max(count, _LEAST_COUNT) for count in counts]

        now, then = flat(rates, sizes, distinct), flat(self._rates, self._sizes, self._distinct_values)
        return any(max(a / b, b / a) > self._drift for a, b in zip(now, then, strict=True))


def _distinct_values(lanes: Sequence[Ints]) -> float:
    """The effective number of distinct values: 1 / (the probability that two tuples have equal values).

    If all values are equally frequent, that is their number. From few tuples it estimates also values that have not
    arrived yet. With skewed frequencies it is less than their number, as joins are larger then.
    """
    codes = np.concatenate(lanes) if lanes else np.empty(0, dtype=np.int64)
    times = np.bincount(codes).astype(np.float64)
    equal_pairs = float((times * (times - 1)).sum())
    pairs = float(len(codes)) * (len(codes) - 1)
    return max(1.0, float(np.count_nonzero(times)) if not equal_pairs else pairs / equal_pairs)
