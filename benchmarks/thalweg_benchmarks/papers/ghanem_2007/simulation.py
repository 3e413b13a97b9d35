"""Operators joined by queues, fed tuple by tuple against a simulated clock.

Arrivals have their times; a turn of the scheduler takes as long as the processor worked on it, or no time at all. So
queues fill up where tuples come faster than the pipeline works them off, and the delay of an answer is what its reader
would see.
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


class Arrival(NamedTuple):
    """A tuple of a stream, or rows of a table."""

    t: Instant
    source: str
    batch: Batch


class TimedOperator(Operator, kind="bench-timed-operator/1"):
    """An operator, and how long it has worked."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.seconds = 0.0

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """As the operator does."""
        began = time.process_time()
        output = self._operator.process(inputs, now)
        self.seconds += time.process_time() - began
        return output

    @property
    def stored(self) -> int:
        """As the operator's."""
        return self._operator.stored

    @property
    def next_wake(self) -> Instant:
        """As the operator's."""
        return self._operator.next_wake


def free() -> float:
    """A clock for work that takes no time."""
    return 0.0


class Simulation:
    """A query under a strategy. `worker` tells how many seconds the pipeline has worked; `free`: work takes no time."""

    def __init__(self, query: str, strategy: Strategy, slot: int = 0) -> None:
        """Round-robin with slots of so many items, or FIFO if there is none."""
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
        self._coming: Iterator[Arrival] = iter(())
        self._next: Arrival | None = None
        self._view = Expire(plan.schema)
        self._nothing = Batch.empty(plan.schema, self.pipeline.dated)
        self._woken: Instant = -1
        self.clock: float = 0.0
        self.delay = OutputDelay()
        self._network.begin(-1)

    def feed(self, arrivals: Sequence[Arrival]) -> None:
        """What will come, in order of time."""
        self._coming = iter(arrivals)
        self._next = next(self._coming, None)

    def run(self, until: float) -> None:
        """Work until the simulated clock has come so far, in seconds."""
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
        """When a window's tuples end next; not once more for a time that it has been told and not come to yet."""
        due = self._network.next_wake() if self._wakes else FOREVER
        return due if due > self._woken else FOREVER

    def _work(self) -> bool:
        """One turn of the scheduler, and what has come out by then; False if there is nothing to do."""
        began = self.worker()
        worked = self._network.work()
        self.clock += (self.worker() - began) * SECOND
        out = self._network.out
        while len(out):
            item = out.take()
            told = self._nothing if item.batch is None else item.batch
            shown = self._view.process([told], item.clock)
            self.delay.add((self.clock - shown.start).astype(np.int64))
        return worked

    def operator(self, name: str) -> tuple[OperatorMetrics, float]:
        """What an operator has done so far, and for how many seconds."""
        place = self._names.index(name)
        worked = self.pipeline.nodes[place].operator
        assert isinstance(worked, TimedOperator)
        return replace(self.pipeline.metrics[place]), worked.seconds


def tuples(source: str, times: Ints, columns: Mapping[str, Ints]) -> Iterator[Arrival]:
    """One arrival for each time, with (store, item, price)."""
    nothing = np.zeros(len(times), dtype=np.int64)
    lanes = [columns.get(name, nothing) for name in ("store", "item", "price")]
    for i, t in enumerate(times.tolist()):
        yield Arrival(t, source, Batch.of_arrivals([lane[i : i + 1] for lane in lanes], times[i : i + 1]))


def poisson(rng: np.random.Generator, rate: float, seconds: float) -> Ints:
    """Times in ticks with exponential gaps, each its own."""
    gaps = rng.exponential(SECOND / rate, round(1.5 * rate * seconds) + 10)
    times = np.unique(np.cumsum(gaps).astype(np.int64))
    return times[times < seconds * SECOND]


def in_order(*streams: Iterator[Arrival]) -> list[Arrival]:
    """Several streams as one, by time."""
    return sorted((arrival for stream in streams for arrival in stream), key=lambda arrival: arrival.t)
