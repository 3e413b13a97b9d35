"""Joins over count windows (W6; PatroumpasSellis2011 Figure 8): by order of expiration (ORD) or negative tuples (NT).

Both keep the same two windows of one tuple per tick. The ordered join takes batches. NT is what the paper describes, a
tuple at a time: a leaving tuple is joined again to find its results anew, and each of them is looked for, from the
front, in the list of its key's results. NT is timed over the first ticks of the stretch that the others are timed over,
and what they all produce and remove in these ticks must be the same.
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
from thalweg.kernel.operators.number import Number, numbered
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.state.buffers import FifoBuffer
from thalweg.kernel.sweep.ordering import net
from thalweg.kernel.windows import make_window
from thalweg_benchmarks.kernel.feeds import Keys, uniform, zipf
from thalweg_benchmarks.kernel.negative_tuple_join import Events, NegativeTupleJoin
from thalweg_benchmarks.result import Result

WINDOWS = (1_000, 10_000, 100_000)
TARGET = 100.0  # at the largest window over hosts, as in Figure 8
BATCHES = 10  # timed
SAMPLE = 400  # ticks at most that NT is timed over

SCHEMA = Schema.of(k=DataType.BIGINT, n=DataType.BIGINT)
EQUAL = call("=", Column(0, DataType.BIGINT, "k"), Column(2, DataType.BIGINT, "k"))


@dataclass(frozen=True)
class Measured:
    """Seconds per tick, that is, per tuple of each side that comes and goes."""

    ordered: float
    probing: float
    negative: float
    sample: int  # ticks that NT was timed over
    results: int


def run(windows: Sequence[int] = WINDOWS) -> Iterator[Result]:
    """About ten partners per tuple; then keys like the hosts of a network trace, few and some of them busy."""
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


def measure(keys: Keys, window: int, seed: int = 0) -> Measured:
    """Fill the windows and turn half of them over, then time."""
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
            raise AssertionError(f"{type(each.operator).__name__} and NT differ")
    timed = BATCHES * batch
    results = ordered.operator.stored - probing.operator.stored
    return Measured(ordered.seconds / timed, probing.seconds / timed, seconds / len(sample), len(sample), results)


class _Run:
    """A join over two ROWS windows; their time is not counted."""

    def __init__(self, operator: Operator, keys: tuple[Ints, Ints], window: int, numbers: bool) -> None:
        self.operator = operator
        self.seconds = 0.0
        self._keys = keys
        schema = numbered(SCHEMA) if numbers else SCHEMA
        self._numbers = (Number(), Number()) if numbers else None
        self._windows = [make_window(Rows(window), schema, StringPool(), False, False) for _ in keys]
        self._told: list[Batch] = []

    def step(self, start: int, stop: int, timed: bool, sample: range) -> None:
        """One batch: the tuples of the ticks from `start` to before `stop`."""
        ts, now = np.arange(start, stop), stop - 1
        inputs = [Batch.of_arrivals((keys[start:stop], ts), ts) for keys in self._keys]
        if self._numbers is not None:
            inputs = [number.process([told], now) for number, told in zip(self._numbers, inputs, strict=True)]
        inputs = [window.process([told], now) for window, told in zip(self._windows, inputs, strict=True)]
        began = time.perf_counter()
        output = self.operator.process(inputs, now)
        if timed:
            self.seconds += time.perf_counter() - began
        if start == sample.start:
            self._told.append(_changes(output, sample.stop))

    def events(self) -> Events:
        """What came and went in the sample's ticks, in order; what is told and taken back did not."""
        told = Batch.concat(self._told)
        names = (told.columns[1] << 32) | told.columns[3]
        rows, signs = net([names, told.start], told.sign.astype(np.int64))
        return np.sort(names[rows[signs > 0]]), np.sort(names[rows[signs < 0]])


def _changes(output: Batch, stop: int) -> Batch:
    """Starts before `stop`, and ends as starts of the opposite sign."""
    ends = Batch(output.columns, output.end, output.end, -output.sign)
    told = Batch.concat([output, ends])
    return told.take(told.start < stop)
