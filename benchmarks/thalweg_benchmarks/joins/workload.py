"""Streams as in GolabOzsu2003 §6.1: each tick has one tuple, of a stream drawn with a probability by its rate."""

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
FILLED = 1.25  # times the longest window, before the timing starts
X = 1_000  # values of the second column


@dataclass(frozen=True)
class Workload:
    """For each stream (rate, extent of its window in units of time, number of distinct values).

    A unit of time has as many ticks as the sum of all rates, so that a window holds rate x extent tuples.
    """

    streams: tuple[tuple[float, float, int], ...]

    @property
    def ticks(self) -> float:
        """Ticks in a unit of time."""
        return sum(rate for rate, _, _ in self.streams)

    def faster(self, factor: int) -> Workload:
        """The same joins with `factor` times the tuples and the values: a tuple has as many partners as before."""
        return Workload(tuple((factor * rate, extent, factor * values) for rate, extent, values in self.streams))

    def join(self, more: Sequence[Expression] = ()) -> MultiJoin:
        """All windows joined on their common attribute, with more conditions."""
        windows = [
            Windowed(StreamScan(Stream(f"s{i + 1}", SCHEMA)), Range(round(extent * self.ticks)))
            for i, (_, extent, _) in enumerate(self.streams)
        ]
        every = Schema(SCHEMA.fields * len(windows))
        equal = [call("=", column(every, 0), column(every, 2 * i)) for i in range(1, len(windows))]
        return MultiJoin(tuple(windows), and_([*equal, *more]))


@dataclass(frozen=True)
class JoinTiming:
    """Seconds and comparisons per tick, stored tuples, results of a round, and the chosen orders."""

    seconds: float
    comparisons: float
    stored: int
    results: int
    orders: str


class JoinRun:
    """A pipeline and its input: every plan of a workload gets the same tuples."""

    def __init__(self, workload: Workload, plan: Plan, settings: Settings | None = None, seed: int = 4) -> None:
        self._workload = workload
        self.pipeline: Pipeline = build(plan, settings=settings)
        self._rng = np.random.default_rng(seed)
        self._at = 0
        self.seconds = 0.0  # spent in the pipeline
        self.pipeline.begin(-1)

    def step(self, ticks: int) -> Batch:
        """Process the tuples of the next `ticks` ticks; return the changes of the answer."""
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
) -> JoinTiming:
    """Time one plan by itself."""
    return measure_all(workload, [(plan, settings)], batch=batch, batches=batches, rounds=rounds)[0]


def measure_all(
    workload: Workload,
    approaches: Sequence[tuple[Plan, Settings | None]],
    *,
    batch: int,
    batches: int,
    rounds: int = 1,
) -> list[JoinTiming]:
    """Fill the windows, then time batches of every plan in turn, so that noise meets all plans alike.

    Seconds are those of the fastest round, comparisons those of the first.
    """
    timed = [_Timed(JoinRun(workload, plan, settings), batch, batches) for plan, settings in approaches]
    longest = round(FILLED * workload.ticks * max(extent for _, extent, _ in workload.streams))
    for one in timed:
        one.fill(longest)
    for _ in range(rounds):
        for one in timed:
            one.round()
    return [one.measured() for one in timed]


class _Timed:
    """A pipeline and its timed rounds."""

    def __init__(self, fed: JoinRun, batch: int, batches: int) -> None:
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

    def measured(self) -> JoinTiming:
        ticks = self._batch * self._batches
        pipeline = self._fed.pipeline
        return JoinTiming(
            min(self._seconds) / ticks,
            (self._compared[1] - self._compared[0]) / ticks,
            pipeline.stored,
            self._results,
            next((m.orders for m in pipeline.metrics if m.orders), ""),
        )


def _comparisons(pipeline: Pipeline) -> int:
    return sum(metrics.comparisons for metrics in pipeline.metrics)
