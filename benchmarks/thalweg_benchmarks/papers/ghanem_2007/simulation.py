"""Operators connected by queues, fed tuple by tuple under a simulated clock.

Tuples arrive at given times. A step of the scheduler advances the clock by the processor time that the step took, or
not at all. So queues grow if tuples arrive faster than the pipeline processes them, and delays are those that a reader
of the answer would see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from thalweg.algebra.catalog import Catalog
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.time import FOREVER, Instant
from thalweg.cql import compile_query, compile_script
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.expire import Expire
from thalweg.kernel.pipeline import Pipeline, Settings, Strategy, build
from thalweg.kernel.pipeline.metrics import OperatorMetrics, OutputDelay
from thalweg.kernel.pipeline.queued import Network

SECOND = 1_000_000  # ticks

STREAMS = "CREATE STREAM s1 (store INT, item INT, price INT); CREATE STREAM s2 (store INT, item INT, price INT)"
TABLE = "CREATE RELATION favourites (item INT, PRIMARY KEY (item))"

STRATEGIES = {
    "ITA": Strategy.ITA,
    "NTA": Strategy.NTA,
    "join-message": Strategy.TIME_MESSAGE,
    "piggybacking": Strategy.PIGGYBACK,
}


class SimulatedArrival(NamedTuple):
    """A tuple of a stream, or rows of a table."""

    t: Instant
    source: str
    batch: Batch


class TimedOperator(Operator, kind="bench-timed-operator/1"):
    """An operator with a count of the processor seconds that it has taken."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.seconds = 0.0

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Process with the operator, and add the time."""
        began = time.process_time()
        output = self._operator.process(inputs, now)
        self.seconds += time.process_time() - began
        return output

    @property
    def stored(self) -> int:
        """The operator's."""
        return self._operator.stored

    @property
    def next_wake(self) -> Instant:
        """The operator's."""
        return self._operator.next_wake


def free() -> float:
    """A processor clock that stands still: work takes no simulated time."""
    return 0.0


class Simulation:
    """A query under a strategy; `worker` is the processor clock, by default one under which work takes no time."""

    def __init__(self, query: str, strategy: Strategy, slot: int = 0) -> None:
        """Schedule round-robin with slots of `slot` items; 0: FIFO."""
        catalog = Catalog()
        compile_script(f"{STREAMS}; {TABLE}", catalog)
        plan = compile_query(query, catalog)
        settings = Settings(scheduler="round-robin", slot=slot) if slot else Settings()
        built = build(plan, strategy, settings=settings)
        nodes = [n if n.operator is None else replace(n, operator=TimedOperator(n.operator)) for n in built.nodes]
        self.pipeline = Pipeline(nodes, built.pool, built.dated, built.identity)
        self._names = [metrics.operator for metrics in built.metrics]
        self._network = Network(self.pipeline, strategy, settings.make_scheduler())
        self._wakes = strategy is not Strategy.ITA
        self.worker: Callable[[], float] = free
        self._coming: Iterator[SimulatedArrival] = iter(())
        self._next: SimulatedArrival | None = None
        self._view = Expire(plan.schema)
        self._nothing = Batch.empty(plan.schema, self.pipeline.dated)
        self._woken: Instant = -1
        self.clock: float = 0.0
        self.delay = OutputDelay()
        self._network.begin(-1)

    def feed(self, arrivals: Sequence[SimulatedArrival]) -> None:
        """Set the arrivals to come, in order of time."""
        self._coming = iter(arrivals)
        self._next = next(self._coming, None)

    def run(self, until: float) -> None:
        """Run until the simulated clock shows `until` seconds."""
        stop = until * SECOND
        while self.clock < stop:
            due = self._next_wake()
            coming = FOREVER if self._next is None else self._next.t
            if self._next is not None and coming <= min(self.clock, due - 1):
                self._network.arrive({self._next.source: self._next.batch}, coming)
                self._next = next(self._coming, None)
            elif due <= self.clock:
                self._woken = due
                self._network.wake(due)
            elif not self._work():
                self.clock = max(self.clock, min(due, coming, stop))

    def _next_wake(self) -> Instant:
        """When a window's tuples end next; FOREVER if the windows were woken for that time already."""
        due = self._network.next_wake() if self._wakes else FOREVER
        return due if due > self._woken else FOREVER

    def _work(self) -> bool:
        """Run one step of the scheduler and record the delays of its output; False if there is nothing to do."""
        began = self.worker()
        worked = self._network.work()
        self.clock += (self.worker() - began) * SECOND
        out = self._network.out
        while len(out):
            item = out.take()
            batch = self._nothing if item.batch is None else item.batch
            shown = self._view.process([batch], item.clock)
            self.delay.add((self.clock - shown.start).astype(np.int64))
        return worked

    def operator(self, name: str) -> tuple[OperatorMetrics, float]:
        """An operator's metrics so far, and its processor seconds."""
        place = self._names.index(name)
        worked = self.pipeline.nodes[place].operator
        assert isinstance(worked, TimedOperator)
        return replace(self.pipeline.metrics[place]), worked.seconds


def tuples(source: str, times: Ints, columns: Mapping[str, Ints]) -> Iterator[SimulatedArrival]:
    """An arrival (store, item, price) for each time; columns that are not given are zero."""
    nothing = np.zeros(len(times), dtype=np.int64)
    lanes = [columns.get(name, nothing) for name in ("store", "item", "price")]
    for i, t in enumerate(times.tolist()):
        yield SimulatedArrival(t, source, Batch.of_arrivals([lane[i : i + 1] for lane in lanes], times[i : i + 1]))


def poisson(rng: np.random.Generator, rate: float, seconds: float) -> Ints:
    """Different times in ticks, with exponentially distributed gaps."""
    gaps = rng.exponential(SECOND / rate, round(1.5 * rate * seconds) + 10)
    times = np.unique(np.cumsum(gaps).astype(np.int64))
    return times[times < seconds * SECOND]


def in_order(*streams: Iterator[SimulatedArrival]) -> list[SimulatedArrival]:
    """The arrivals of all streams in order of time."""
    return sorted((arrival for stream in streams for arrival in stream), key=lambda arrival: arrival.t)
