"""Would catch a pair that a leaving tuple fails to take along, takes along twice, too early or with another's row.

It is held against the reference over drawn feeds, and against the join that probes again over real windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, check, feeds, from_batch, to_batch
from kernel.operators.test_join import BOTH, BUFFERS, CONDITIONS, LEFT, RIGHT, MakeBuffer
from strategies.effort import examples
from thalweg.algebra.plan import JoinKind
from thalweg.algebra.windows import PartitionedRows, Range, Rows, ValueRange, Window
from thalweg.core.batch import Batch
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.join import Join
from thalweg.kernel.operators.number import Number
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.state.buffers import Buffer, KeyedBuffer
from thalweg.kernel.sweep.ordered_join_side import numbered
from thalweg.kernel.tuning import Tuning
from thalweg.kernel.windows import make_window
from thalweg.reference import operators as reference

WIDTH = (len(LEFT), len(RIGHT))
NUMBERED = [numbered(LEFT), numbered(RIGHT)]


@pytest.mark.parametrize("name", CONDITIONS)
@examples(40)
@given(
    steps=feeds(LEFT, RIGHT, most=14),
    dated=st.booleans(),
    small=st.sampled_from([0, 1024]),
    piece=st.sampled_from([2, 1 << 16]),
    buffers=st.tuples(st.sampled_from(BUFFERS), st.sampled_from(BUFFERS)),
    restarts=st.booleans(),
)
def test_the_reference_agrees(
    name: str,
    steps: list[Step],
    dated: bool,
    small: int,
    piece: int,
    buffers: tuple[MakeBuffer, MakeBuffer],
    restarts: bool,
) -> None:
    condition = CONDITIONS[name]
    tuning = Tuning(always_merge_runs_up_to=small, reserved_places=1, pairs_at_once=piece)

    def make(pool: StringPool) -> Operator:
        sides = buffers[0](tuning), buffers[1](tuning)
        return OrderedJoin(NUMBERED[0], NUMBERED[1], condition, pool, dated, buffers=sides, tuning=tuning)

    def bare(tuples: list[Dated]) -> list[Dated]:
        return [d._replace(row=d.row[:-1]) for d in tuples]

    check(
        (lambda pool: Restarting(lambda: make(pool))) if restarts else make,
        NUMBERED,
        BOTH,
        with_numbers(steps),
        lambda at, t: reference.join(bare(at(0, t)), bare(at(1, t)), condition, JoinKind.INNER, WIDTH),
        dated,
    )


_KEYS = st.sampled_from([(0,), (1,), (0, 1)])
_RANGES = st.builds(Range, st.integers(1, 9), st.sampled_from([1, 1, 2, 3]))
WINDOWS: st.SearchStrategy[Window] = st.one_of(
    st.builds(Rows, st.integers(1, 6)),
    st.builds(Rows, st.integers(1, 6), st.integers(1, 4)),
    st.builds(PartitionedRows, _KEYS, st.integers(1, 3)),
    st.builds(PartitionedRows, _KEYS, st.integers(1, 3), _RANGES),
)
BY_VALUE = [st.builds(ValueRange, st.just(i), st.integers(1, 3), st.just(DataType.BIGINT)) for i in (0, 1)]


@pytest.mark.parametrize("name", CONDITIONS)
@examples(40)
@given(data=st.data())
def test_over_windows_it_emits_the_same_as_the_join_that_probes_again(name: str, data: st.DataObject) -> None:
    arrivals = data.draw(feeds(LEFT, RIGHT, direct=True, most=30))
    windows = [data.draw(st.one_of(WINDOWS, by_value)) for by_value in BY_VALUE]
    dated = data.draw(st.booleans())
    pool = StringPool()
    plain = [make_window(w, s, pool, dated, False) for w, s in zip(windows, (LEFT, RIGHT), strict=True)]
    counted = [make_window(w, s, pool, dated, False) for w, s in zip(windows, NUMBERED, strict=True)]
    numbers = [Number(), Number()]
    join = Join(LEFT, RIGHT, CONDITIONS[name], pool, dated, buffers=kept())
    tuning = Tuning(always_merge_runs_up_to=data.draw(st.sampled_from([0, 1024])))
    ordered = OrderedJoin(NUMBERED[0], NUMBERED[1], CONDITIONS[name], pool, dated, buffers=kept(), tuning=tuning)
    for step in arrivals:
        batches = [_arrivals(new, s, pool, dated) for new, s in zip(step.inputs, (LEFT, RIGHT), strict=True)]
        again = join.process([w.process([b], step.now) for w, b in zip(plain, batches, strict=True)], step.now)
        fed = [n.process([b], step.now) for n, b in zip(numbers, batches, strict=True)]
        found = ordered.process([w.process([b], step.now) for w, b in zip(counted, fed, strict=True)], step.now)
        assert _steps(found, pool, dated) == _steps(again, pool, dated), f"at {step.now}"


def test_nothing_is_left_when_all_have_left() -> None:
    pool = StringPool()
    operator = OrderedJoin(NUMBERED[0], NUMBERED[1], CONDITIONS["by key"], pool, False, buffers=kept())
    for at, sign in ((1, 1), (2, -1)):
        rows = [Signed((7, "a", i), at, FOREVER, sign, 0, 0) for i in range(3)]
        right = [Signed(("b", 7, 0.5, i), 1, FOREVER, 1, 0, 0) for i in range(2)] if at == 1 else []
        batches = [to_batch(fed, s, pool, False) for fed, s in zip((rows, right), NUMBERED, strict=True)]
        assert len(operator.process(batches, at)) == 6
        assert operator.stored == (3 + 2 + 6 if at == 1 else 2)


class Restarting(Operator):
    """An operator that is taken down after each batch, and restored into a new one."""

    def __init__(self, make: Callable[[], Operator]) -> None:
        self._make, self._kept = make, make().snapshot()

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        operator = self._make()
        operator.restore(self._kept)
        output = operator.process(inputs, now)
        self._kept = operator.snapshot()
        return output


def kept() -> tuple[Buffer, Buffer]:
    return KeyedBuffer(2), KeyedBuffer(2)


def with_numbers(steps: list[Step]) -> list[Step]:
    """The same feed with each positive tuple numbered; negative ones that delete no whole tuple are left out."""
    after: list[Step] = []
    counts = [0] * len(steps[0].inputs)
    alive: Counter[tuple[int, Signed, int]] = Counter()
    for step in steps:
        inputs = tuple[list[Signed], ...]([] for _ in step.inputs)
        for side, fed in enumerate(step.inputs):
            for signed in fed:
                life = signed._replace(start=0, sign=1)
                if signed.sign > 0:
                    number = counts[side]
                    counts[side] += 1
                    alive[side, life, number] += 1
                else:
                    known = [n for s, one, n in alive if s == side and one == life]
                    if not known:
                        continue
                    number = min(known)
                    del alive[side, life, number]
                inputs[side].append(signed._replace(row=(*signed.row, number)))
        after.append(Step(step.now, inputs))
    return after


def _arrivals(fed: list[Signed], schema: Schema, pool: StringPool, dated: bool) -> Batch:
    batch = to_batch(fed, schema, pool, dated)
    return Batch.of_arrivals(batch.columns, batch.start, dated)


def _steps(output: Batch, pool: StringPool, dated: bool) -> Counter[tuple[Instant, object, object, object]]:
    """At which instants which rows become more or fewer: the same bags at every instant, however they are cut up."""
    changes: Counter[tuple[Instant, object, object, object]] = Counter()
    for s in from_batch(output, BOTH, pool, dated):
        changes[s.start, s.row, s.ts, s.exp] += s.sign
        changes[s.end, s.row, s.ts, s.exp] -= s.sign
    return Counter({change: n for change, n in changes.items() if n})
