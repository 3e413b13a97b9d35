"""Streams for the kernel's benchmarks: one tuple per tick and side, Zipf or uniform keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints

BATCH = 25_000

Keys = Callable[[np.random.Generator, int], Ints]


def zipf(values: int, exponent: float = 0.8) -> Keys:
    """Keys 0 .. values-1, the k-th with weight 1 / (k+1)^exponent."""
    weights = 1.0 / np.arange(1, values + 1) ** exponent
    bounds = np.cumsum(weights / weights.sum())

    def draw(rng: np.random.Generator, rows: int) -> Ints:
        return np.minimum(np.searchsorted(bounds, rng.random(rows)), values - 1).astype(np.int64)

    return draw


def uniform(values: int) -> Keys:
    """Keys 0 .. values-1, all equally likely."""
    return lambda rng, rows: rng.integers(0, values, rows)


@dataclass
class Feed:
    """Consecutive batches of (key, value) tuples, one tuple per tick, each alive for `window` ticks."""

    keys: Keys
    window: int
    seed: int
    dated: bool = False
    at: int = 0

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def arrivals(self) -> Batch:
        """The next batch, as a stream emits it."""
        ts = np.arange(self.at, self.at + BATCH)
        self.at += BATCH
        columns = (self.keys(self._rng, BATCH), self._rng.integers(0, 1_000, BATCH))
        return Batch.of_arrivals(columns, ts, self.dated)

    def windowed(self) -> Batch:
        """The next batch, as a sliding window emits it."""
        batch = self.arrivals()
        end = batch.start + self.window
        moved = batch.between(batch.start, end)
        if batch.dates is None:
            return moved
        return Batch(moved.columns, moved.start, moved.end, moved.sign, type(batch.dates)(batch.start, end))
