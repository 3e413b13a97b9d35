"""Streams as in GolabOzsu2003 §6.1: in every tick a tuple of a stream that is drawn by the streams' rates."""

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
from thalweg.kernel.pipeline import Pipeline, Settings, build

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

    def faster(self, factor: int) -> Workload:
        """The same joins with so many times the tuples and the values: partners stay as many."""
        return Workload(tuple((factor * rate, extent, factor * values) for rate, extent, values in self.streams))

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
    """One plan by itself."""
    return measure_all(workload, [(plan, settings)], batch=batch, batches=batches, rounds=rounds)[0]


def measure_all(
    workload: Workload,
    ways: Sequence[tuple[Plan, Settings | None]],
    *,
    batch: int,
    batches: int,
    rounds: int = 1,
) -> list[Measured]:
    """Fill the windows, then time batches, of every plan in turn: so all of them meet the same noise.

    Of several rounds the fastest counts, and the first one's comparisons.
    """
    timed = [_Timed(Fed(workload, plan, settings), batch, batches) for plan, settings in ways]
    longest = round(FILLED * workload.ticks * max(extent for _, extent, _ in workload.streams))
    for one in timed:
        one.fill(longest)
    for _ in range(rounds):
        for one in timed:
            one.round()
    return [one.measured() for one in timed]


class _Timed:
    """A pipeline and the rounds that it was timed in."""

    def __init__(self, fed: Fed, batch: int, batches: int) -> None:
        self._fed, self._batch, self._batches = fed, batch, batches
        self._seconds: list[float] = []
        self._compared: list[int] = []
        self._results = 0  # of the last round

    def fill(self, ticks: int) -> None:
        for _ in range(-(-ticks // self._batch)):
            self._fed.step(self._batch)
        self._compared.append(_comparisons(self._fed.pipeline))

    def round(self) -> None:
        before = self._fed.seconds
        self._results = sum(len(self._fed.step(self._batch)) for _ in range(self._batches))
        self._seconds.append(self._fed.seconds - before)
        self._compared.append(_comparisons(self._fed.pipeline))

    def measured(self) -> Measured:
        ticks = self._batch * self._batches
        pipeline = self._fed.pipeline
        return Measured(
            min(self._seconds) / ticks,
            (self._compared[1] - self._compared[0]) / ticks,
            pipeline.stored,
            self._results,
            next((m.orders for m in pipeline.metrics if m.orders), ""),
        )


def _comparisons(pipeline: Pipeline) -> int:
    return sum(metrics.comparisons for metrics in pipeline.metrics)
