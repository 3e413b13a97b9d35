"""Streams as in seed 004, section 6.1: in every tick a tuple of a stream that is drawn by the streams' rates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import Expression, and_, call, column
from thalweg.algebra.plan import MultiJoin, Plan, StreamScan, Windowed
from thalweg.algebra.windows import Range
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.planner import Pipeline, Settings, build

SCHEMA = Schema.of(attr=DataType.BIGINT, x=DataType.BIGINT)
FILLED = 1.25  # of the longest window, before anything is measured
X = 1_000  # values of the second column


@dataclass(frozen=True)
class Workload:
    """By stream its rate, the time its window spans and its distinct values, which begin at the least.

    A unit of time has as many ticks as all rates add up to, so that a window holds rate x time tuples.
    """

    streams: tuple[tuple[float, float, int], ...]

    @property
    def ticks(self) -> float:
        """Ticks in a unit of time."""
        return sum(rate for rate, _, _ in self.streams)

    def join(self, more: Sequence[Expression] = ()) -> MultiJoin:
        """All windows joined by their common attribute, and more conditions."""
        windows = [
            Windowed(StreamScan(Stream(f"s{i + 1}", SCHEMA)), Range(round(extent * self.ticks)))
            for i, (_, extent, _) in enumerate(self.streams)
        ]
        every = Schema(SCHEMA.fields * len(windows))
        equal = [call("=", column(every, 0), column(every, 2 * i)) for i in range(1, len(windows))]
        return MultiJoin(tuple(windows), and_([*equal, *more]))


@dataclass(frozen=True)
class Measured:
    """Per tick seconds and comparisons, and how much a pipeline stores and has put out."""

    seconds: float
    comparisons: float
    stored: int
    results: int
    orders: str


class Fed:
    """A pipeline and what is fed to it: the same tuples for every plan of a workload."""

    def __init__(self, workload: Workload, plan: Plan, settings: Settings | None = None, seed: int = 4) -> None:
        self._workload = workload
        self.pipeline: Pipeline = build(plan, settings=settings)
        self._rng = np.random.default_rng(seed)
        self._at = 0
        self.seconds = 0.0  # spent in the pipeline
        self.pipeline.begin(-1)

    def step(self, ticks: int) -> Batch:
        """What the answer gains in so many ticks."""
        rates = np.array([rate for rate, _, _ in self._workload.streams])
        source = self._rng.choice(len(rates), ticks, p=rates / rates.sum())
        keys, xs = self._rng.random(ticks), self._rng.integers(0, X, ticks)
        ts = np.arange(self._at, self._at + ticks)
        self._at += ticks
        feeds = {}
        for i, (_, _, values) in enumerate(self._workload.streams):
            mine = source == i
            attr = (keys[mine] * values).astype(np.int64)
            feeds[f"s{i + 1}"] = Batch.of_arrivals((attr, xs[mine]), ts[mine])
        began = time.perf_counter()
        output = self.pipeline.process(feeds, self._at - 1)
        self.seconds += time.perf_counter() - began
        return output


def measure(
    workload: Workload, plan: Plan, settings: Settings | None = None, *, batch: int, batches: int, rounds: int = 1
) -> Measured:
    """Fill the windows, then time batches; of several rounds the fastest counts, and the first one's comparisons."""
    fed = Fed(workload, plan, settings)
    longest = round(FILLED * workload.ticks * max(extent for _, extent, _ in workload.streams))
    for _ in range(-(-longest // batch)):
        fed.step(batch)
    compared = [_comparisons(fed.pipeline)]
    seconds, results = [], 0
    for _ in range(rounds):
        before = fed.seconds
        results = sum(len(fed.step(batch)) for _ in range(batches))
        seconds.append(fed.seconds - before)
        compared.append(_comparisons(fed.pipeline))
    ticks = batch * batches
    return Measured(
        min(seconds) / ticks,
        (compared[1] - compared[0]) / ticks,
        fed.pipeline.stored,
        results,
        next((m.orders for m in fed.pipeline.metrics if m.orders), ""),
    )


def _comparisons(pipeline: Pipeline) -> int:
    return sum(metrics.comparisons for metrics in pipeline.metrics)
