"""`thalweg bench kernel`: each operator by itself, in steady state, against one argsort and one copy of its output."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Aggregate, Column, call, literal
from thalweg.algebra.windows import Range, Rows
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.operators.group_by import GroupBy
from thalweg.kernel.operators.join import Join
from thalweg.kernel.operators.negation import Negation
from thalweg.kernel.operators.select import Select
from thalweg.kernel.state.buffers import FifoBuffer
from thalweg.kernel.windows import make_window
from thalweg_benchmarks.kernel import state_size
from thalweg_benchmarks.kernel.feeds import BATCH, Feed, Keys, uniform, zipf
from thalweg_benchmarks.result import Result

ALLOWED = 8.0  # times (one argsort of the batch's keys + one copy of the output)
GROWTH = 2.0  # from the smallest to the largest window, beyond what the result's size explains
WINDOWS = (10_000, 100_000, 1_000_000)
MEASURED = 9

KEYS = Schema.of(k=DataType.BIGINT)
SCHEMA = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)
KEY, VALUE = Column(0, DataType.BIGINT, "k"), Column(1, DataType.BIGINT, "v")


@dataclass(frozen=True)
class OperatorCase:
    """An operator and its input; the operator and the keys may depend on the window."""

    name: str
    make: Callable[[int], Operator]
    keys: Callable[[int], Keys]
    inputs: int = 1
    windowed: bool = True
    dated: bool = False
    columns: int = 2
    largest: int = WINDOWS[-1]


@dataclass(frozen=True)
class OperatorTiming:
    """Medians over batches: seconds, and output tuples per batch."""

    seconds: float
    argsort: float
    copy: float
    output: float

    @property
    def ratio(self) -> float:
        """The time as a multiple of the yardstick."""
        return self.seconds / (self.argsort + self.copy)


def run(windows: tuple[int, ...] = WINDOWS) -> Iterator[Result]:
    """Every case at every window size, its growth with the window, and then the sizes of state."""
    for case in cases():
        measured = []
        for window in windows:
            if window <= case.largest:
                measured.append((window, measure(case, window)))
                yield _alone(case.name, *measured[-1])
        if len(measured) > 1:
            yield _growth(case.name, measured)
    yield from state_size.run()


def measure(case: OperatorCase, window: int) -> OperatorTiming:
    """Fill the window, then time batches."""
    operator = case.make(window)
    feeds = [Feed(case.keys(window), window, seed, case.dated) for seed in range(case.inputs)]
    times: list[tuple[float, float, float, int]] = []
    for step in range(-(-window // BATCH) + 2 + MEASURED):
        inputs = [feed.windowed() if case.windowed else feed.arrivals() for feed in feeds]
        inputs = [batch.with_columns(batch.columns[: case.columns]) for batch in inputs]
        began = time.perf_counter()
        output = operator.process(inputs, feeds[0].at - 1)
        took = time.perf_counter() - began
        if step >= -(-window // BATCH) + 2:
            times.append((took, _argsort(inputs), _copy(output), len(output)))
    seconds, argsort, copy, rows = (float(np.median(column)) for column in zip(*times, strict=True))
    return OperatorTiming(seconds, argsort, copy, rows)


def _argsort(inputs: list[Batch]) -> float:
    began = time.perf_counter()
    for batch in inputs:
        np.argsort(batch.columns[0])
    return time.perf_counter() - began


def _copy(output: Batch) -> float:
    began = time.perf_counter()
    for lane in (*output.columns, output.start, output.end, output.sign):
        lane.copy()
    return time.perf_counter() - began


def cases() -> Iterator[OperatorCase]:
    """Each operator over few and over many keys; joins with about ten partners per tuple, and with skew."""
    pool = StringPool()
    large = call(">", VALUE, literal(500))
    sums = [(Aggregate.of("count"), None), (Aggregate.of("sum", VALUE), 1)]
    equal = call("=", KEY, Column(2, DataType.BIGINT, "k"))
    for values in (2_000, 100_000):
        label, drawn = f"{values:,} keys", zipf(values)

        def keys(_: int, drawn: Keys = drawn) -> Keys:
            return drawn

        yield OperatorCase(f"select, {label}", lambda _: Select(SCHEMA, large, pool), keys)
        yield OperatorCase(
            f"window, {label}", lambda n: make_window(Range(n), SCHEMA, pool, False, False), keys, windowed=False
        )
        yield OperatorCase(
            f"rows, {label}", lambda n: make_window(Rows(n), SCHEMA, pool, False, False), keys, windowed=False
        )
        yield OperatorCase(f"distinct, {label}", lambda _: DeltaStar(KEYS), keys, columns=1)
        yield OperatorCase(f"group-by, {label}", lambda _: GroupBy([0], sums, SCHEMA, pool, known_ends=True), keys)
        yield OperatorCase(
            f"negation, {label}", lambda _: Negation(SCHEMA, SCHEMA, [(0, 0)], pool), keys, inputs=2, dated=True
        )

    def join(_: int) -> Join:
        return Join(SCHEMA, SCHEMA, equal, pool, False, buffers=(FifoBuffer(), FifoBuffer()))

    yield OperatorCase("join, ten partners", join, _a_tenth, inputs=2)
    yield OperatorCase("join, 2,000 keys", join, lambda _: zipf(2_000), inputs=2, largest=WINDOWS[0])


def _a_tenth(window: int) -> Keys:
    return uniform(max(1, window // 10))


def _alone(name: str, window: int, measured: OperatorTiming) -> Result:
    detail = {"window": window, "milliseconds": round(measured.seconds * 1e3, 3), "output": int(measured.output)}
    return Result(f"{name}, window {window:,}", measured.ratio, ALLOWED, detail=detail)


def _growth(name: str, measured: list[tuple[int, OperatorTiming]]) -> Result:
    """Time per (input + output) tuple at the largest window against the smallest."""
    (_, small), (_, large) = measured[0], measured[-1]
    per_tuple = [m.seconds / (BATCH + m.output) for m in (small, large)]
    return Result(f"{name}, growth with the window", per_tuple[1] / per_tuple[0], GROWTH)
