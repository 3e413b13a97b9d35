"""Joins of count windows (W6; PatroumpasSellis2011 Figure 8): order of expiration (ORD) against negative tuples (NT).

All joins have the same two windows, with one tuple per tick. ORD takes batches. NT is the paper's baseline, a tuple at
a time: it joins a leaving tuple again to find that tuple's results, and scans the list of the key's results for each of
them. NT is timed over the first ticks of the span that the others are timed over; the results that come and go in these
ticks must be the same for all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Column, call
from thalweg.algebra.windows import Rows
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.join import Join
from thalweg.kernel.operators.number import Number
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.state.buffers import FifoBuffer
from thalweg.kernel.sweep.ordered_join_side import numbered
from thalweg.kernel.sweep.ordering import net
from thalweg.kernel.windows import make_window
from thalweg_benchmarks.kernel.feeds import Keys, uniform, zipf
from thalweg_benchmarks.kernel.negative_tuple_join import Events, NegativeTupleJoin
from thalweg_benchmarks.result import Result

WINDOWS = (1_000, 10_000, 100_000)
TARGET = 100.0  # at the largest window over hosts, as in Figure 8
BATCHES = 10  # that are timed
SAMPLE = 400  # ticks that NT is timed over, at most

SCHEMA = Schema.of(k=DataType.BIGINT, n=DataType.BIGINT)
EQUAL = call("=", Column(0, DataType.BIGINT, "k"), Column(2, DataType.BIGINT, "k"))


@dataclass(frozen=True)
class CountJoinTiming:
    """Seconds per tick, which has one new and one leaving tuple on each side."""

    ordered: float
    probing: float
    negative: float
    sample: int  # ticks that NT was timed over
    results: int


def run(windows: Sequence[int] = WINDOWS) -> Iterator[Result]:
    """About ten partners per tuple; then few keys, some of them frequent, like the hosts of a network trace."""
    laws: dict[str, Callable[[int], Keys]] = {
        "ten partners": lambda window: uniform(max(1, window // 10)),
        "2,000 hosts": lambda _: zipf(2_000, 0.5),
    }
    for name, keys in laws.items():
        for window in windows:
            found = measure(keys(window), window)
            case = f"count join, {name}, window {window:,}, ORD in batches against"
            target = TARGET if name == "2,000 hosts" and window == WINDOWS[-1] else None
            ticks = {"results": found.results, "microseconds": round(found.ordered * 1e6, 3)}
            yield Result(
                f"{case} NT by tuple (over {found.sample} ticks)",
                found.negative / found.ordered, target, at_least=True,
                detail=ticks | {"nt_microseconds": round(found.negative * 1e6, 3)},
            )  # fmt: skip
            yield Result(
                f"{case} the kernel's join that probes again",
                found.probing / found.ordered, None, at_least=True,
                detail=ticks | {"probing_microseconds": round(found.probing * 1e6, 3)},
            )  # fmt: skip


def measure(keys: Keys, window: int, seed: int = 0) -> CountJoinTiming:
    """Fill the windows and replace half of their tuples, then time."""
    batch = min(1_000, window // 10)
    began = 3 * window // 2
    rng, ticks = np.random.default_rng(seed), began + BATCHES * batch
    drawn = (keys(rng, ticks), keys(rng, ticks))
    sample = range(began, began + min(SAMPLE, batch))
    pool, schema = StringPool(), numbered(SCHEMA)
    by_order = OrderedJoin(schema, schema, EQUAL, pool, False, buffers=(FifoBuffer(), FifoBuffer()))
    by_key = Join(SCHEMA, SCHEMA, EQUAL, pool, False, buffers=(FifoBuffer(), FifoBuffer()))
    ordered, probing = _Run(by_order, drawn, window, numbers=True), _Run(by_key, drawn, window, numbers=False)
    for at in range(0, ticks, batch):
        for each in (ordered, probing):
            each.step(at, at + batch, timed=at >= began, sample=sample)
    negative = NegativeTupleJoin(drawn, window, sample)
    seconds = negative.run()
    for each in (ordered, probing):
        if not all(np.array_equal(*pair) for pair in zip(each.events(), negative.events(), strict=True)):
            raise AssertionError(f"{type(each.operator).__name__} and NT do not produce and remove the same results")
    timed = BATCHES * batch
    results = ordered.operator.stored - probing.operator.stored
    return CountJoinTiming(
        ordered.seconds / timed, probing.seconds / timed, seconds / len(sample), len(sample), results
    )


class _Run:
    """A join of two ROWS windows; only the join is timed."""

    def __init__(self, operator: Operator, keys: tuple[Ints, Ints], window: int, numbers: bool) -> None:
        self.operator = operator
        self.seconds = 0.0
        self._keys = keys
        schema = numbered(SCHEMA) if numbers else SCHEMA
        self._numbers = (Number(), Number()) if numbers else None
        self._windows = [make_window(Rows(window), schema, StringPool(), False, False) for _ in keys]
        self._emitted: list[Batch] = []

    def step(self, start: int, stop: int, timed: bool, sample: range) -> None:
        """Process one batch: the tuples of the ticks `start` .. `stop` - 1."""
        ts, now = np.arange(start, stop), stop - 1
        inputs = [Batch.of_arrivals((keys[start:stop], ts), ts) for keys in self._keys]
        if self._numbers is not None:
            inputs = [number.process([batch], now) for number, batch in zip(self._numbers, inputs, strict=True)]
        inputs = [window.process([batch], now) for window, batch in zip(self._windows, inputs, strict=True)]
        began = time.perf_counter()
        output = self.operator.process(inputs, now)
        if timed:
            self.seconds += time.perf_counter() - began
        if start == sample.start:
            self._emitted.append(_changes(output, sample.stop))

    def events(self) -> Events:
        """The results that came and went in the sample's ticks, sorted; changes that cancel out are left out."""
        emitted = Batch.concat(self._emitted)
        names = (emitted.columns[1] << 32) | emitted.columns[3]
        rows, signs = net([names, emitted.start], emitted.sign.astype(np.int64))
        return np.sort(names[rows[signs > 0]]), np.sort(names[rows[signs < 0]])


def _changes(output: Batch, stop: int) -> Batch:
    """The changes before `stop`: starts, and ends as starts with the opposite sign."""
    ends = Batch(output.columns, output.end, output.end, -output.sign)
    changes = Batch.concat([output, ends])
    return changes.take(changes.start < stop)
