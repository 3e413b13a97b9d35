"""Each buffer against a plain list: would catch a tuple that is lost, kept though deleted, or never forgotten.

Every buffer is fed what its pattern promises, and anything; the list is the truth in both cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Signed, Step, contents, feeds, to_batch
from kernel.state.test_keyed import keyed
from strategies.effort import examples
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.state.buffers import Buffer, FifoBuffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.tuning import DEFAULT, Tuning

SCHEMA = Schema.of(k=DataType.BIGINT)
KEYS: list[Value] = [0, 1, 2, None]
MERGE_LITTLE = Tuning(always_merge_runs_up_to=0)
LAY_OUT_AT_ONCE = Tuning(always_merge_runs_up_to=0, lay_out_recent_at_share=0)
KINDS: dict[str, Callable[[int, int, Tuning], Buffer]] = {
    "fifo": FifoBuffer,
    "partitioned": PartitionedBuffer,
    "keyed": KeyedBuffer,
    "sequential": lambda _, lazy, tuning: SequentialBuffer(lazy),
}
SETTINGS: dict[str, st.SearchStrategy[int]] = {"share": st.sampled_from([2, 1, 3, 10, 50]), "lazy": st.integers(0, 9)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hashed", [True, False])
@examples(40)
@given(steps=feeds(SCHEMA, most=16), small=st.sampled_from([0, 4, 1024]), data=st.data(), **SETTINGS)
def test_against_a_plain_list(
    kind: str, hashed: bool, steps: list[Step], small: int, share: int, lazy: int, data: st.DataObject
) -> None:
    tuning = Tuning(always_merge_runs_up_to=small)
    buffer, pool, fed = KINDS[kind](share, lazy, tuning), StringPool(), list[Signed]()
    moved = data.draw(st.integers(0, len(steps)), label="moved to another buffer before step")
    for number, step in enumerate(steps):
        if number == moved:
            other = KINDS[kind](share, lazy, tuning)
            other.restore(buffer.snapshot())
            buffer = other
        batch = to_batch(step.inputs[0], SCHEMA, pool)
        add(buffer, codes(batch), batch, step.now, hashed)
        fed += step.inputs[0]
        for code, key in enumerate(KEYS):
            wanted = Counter((d.ts, d.exp) for d in contents(fed, step.now) if d.row == (key,))
            assert alive(buffer, code, step.now) == wanted


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(steps=feeds(SCHEMA, most=16), cut=st.integers(0, 10), **SETTINGS)
def test_a_snapshot_never_changes(kind: str, steps: list[Step], cut: int, share: int, lazy: int) -> None:
    buffer, pool = KINDS[kind](share, lazy, DEFAULT), StringPool()
    batches = [(step.now, to_batch(step.inputs[0], SCHEMA, pool)) for step in steps]
    for now, batch in batches[:cut]:
        add(buffer, codes(batch), batch, now)
    taken, now = buffer.snapshot(), batches[min(cut, len(batches)) - 1][0] if cut else 0
    before = [alive(buffer, code, now) for code in range(len(KEYS))]
    for later, batch in batches[cut:]:
        add(buffer, codes(batch), batch, later)
    for _ in range(2):
        buffer.restore(taken)
        assert [alive(buffer, code, now) for code in range(len(KEYS))] == before


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(steps=feeds(SCHEMA, most=16, direct=True), **SETTINGS)
def test_what_has_ended_is_forgotten_in_the_end(kind: str, steps: list[Step], share: int, lazy: int) -> None:
    buffer, pool = KINDS[kind](share, lazy, DEFAULT), StringPool()
    for step in steps:
        mortal = [s for s in step.inputs[0] if s.end < FOREVER]
        batch = to_batch(mortal, SCHEMA, pool)
        add(buffer, codes(batch), batch, step.now)
    buffer.expire(steps[-1].now + 100)
    assert len(buffer) == 0 and buffer.nbytes == 0


@pytest.mark.parametrize("kind", KINDS)
def test_lazy_expiration_waits_and_then_catches_up(kind: str) -> None:
    eager, lazy = KINDS[kind](10, 0, MERGE_LITTLE), KINDS[kind](10, 30, MERGE_LITTLE)
    sizes = []
    for now in range(1, 100):
        one = np.full(1, now)
        batch = Batch((one,), one, one + 5, np.ones(1, dtype=np.int8))
        for buffer in (eager, lazy):
            add(buffer, one, batch, now)
        sizes.append((len(eager), len(lazy)))
    assert max(e for e, _ in sizes) <= 12
    assert 8 <= max(n for _, n in sizes) <= 30 + 12 and min(n for _, n in sizes[40:]) <= 12


def test_fifo_drops_whole_runs_from_the_front() -> None:
    buffer = FifoBuffer()
    feed(buffer, lambda n: np.full(n, WINDOW))
    assert len(buffer) <= WINDOW * 1.11 and len(buffer.runs) <= 2 * 10 + 5


def test_fifo_has_room_back_when_a_deleted_tuple_is_at_the_front() -> None:
    buffer, one = FifoBuffer(tuning=MERGE_LITTLE), np.ones(1, dtype=np.int64)
    for now in range(3):
        add(buffer, one * now, Batch((one * now,), one * now, one * 9, one.astype(np.int8)), now)
    for now in (1, 0):
        add(buffer, one * now, Batch((one * now,), one * 3, one * 9, -one.astype(np.int8)), 3)
        assert len(buffer) == (3 if now else 1)


@pytest.mark.parametrize("partitions", [5, 10, 50])
def test_partitions_by_exp_hold_at_most_one_that_is_ending(partitions: int) -> None:
    buffer, random = PartitionedBuffer(partitions), np.random.default_rng(0)
    living = feed(buffer, lambda n: random.integers(1, WINDOW, n))
    assert living <= len(buffer) <= living * (1 + 3 / partitions)
    filled = [partition for partition in buffer._partitions if partition]
    assert 0.7 * partitions <= len(filled) <= partitions + 1  # a quarter too wide, and the last still young
    for partition in filled:  # one partition's ends lie within its width, and its runs are few
        ends = np.concatenate([run.end for run in partition])
        assert len(np.unique(ends // buffer._width)) == 1
        assert len(partition) <= 8
    assert len(buffer._recent) <= 8 and sum(map(len, buffer._recent)) <= len(buffer) / 2


def test_an_arrival_touches_only_the_partitions_that_it_ends_in() -> None:
    buffer = PartitionedBuffer(5, tuning=LAY_OUT_AT_ONCE)
    keys = np.arange(50)
    add(buffer, keys, Batch((keys,), keys * 0, keys + 1, np.ones(50, dtype=np.int8)), 0)
    before = [list(map(id, partition)) for partition in buffer._partitions]
    one = np.full(1, 7)
    add(buffer, one, Batch((one,), one * 0, one + 20, np.ones(1, dtype=np.int8)), 0)
    after = [list(map(id, partition)) for partition in buffer._partitions]
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_a_longer_lifetime_makes_partitions_wider() -> None:
    buffer, one = PartitionedBuffer(5, tuning=LAY_OUT_AT_ONCE), np.ones(1, dtype=np.int64)
    for end in (5, 50, 500, 5_000, FOREVER):
        add(buffer, one, Batch((one,), one * 0, one * end, one.astype(np.int8)), 0)
    assert buffer._width == 1_000 and alive_ends(buffer, 1) == [5, 50, 500, 5_000, FOREVER]
    add(buffer, one[:0], Batch((one[:0],), one[:0], one[:0], one[:0].astype(np.int8)), 1_500)
    assert alive_ends(buffer, 1) == [5_000, FOREVER] and len(buffer) == 2


def test_mixed_lifetimes_leave_few_dead_tuples_among_those_found_by_key() -> None:
    buffer, random = KeyedBuffer(), np.random.default_rng(0)
    living = feed(buffer, lambda n: random.integers(1, WINDOW, n))
    assert len(buffer) <= living * 1.4 and len(buffer.runs) <= 2 * 10 + 5


@pytest.mark.parametrize("kind", ["keyed", "sequential", "partitioned"])
def test_negative_tuples_leak_nothing(kind: str) -> None:
    buffer = KINDS[kind](10, 0, DEFAULT)
    feed(buffer, None)
    most = {"keyed": 1.4, "sequential": 1.0, "partitioned": 2.1}[kind]  # what never ends has no partition to go with
    assert len(buffer) <= WINDOW * most
    assert all((run.sign >= 0).all() for run in buffer.runs)


def test_a_sequence_stays_in_order_of_arrival() -> None:
    buffer, one = SequentialBuffer(), np.ones(1, dtype=np.int64)
    for now, key in enumerate([3, 1, 2, 1]):
        add(buffer, one * key, Batch((one * key,), one * now, one * FOREVER, one.astype(np.int8)), now)
    add(buffer, one, Batch((one,), one * 9, one * FOREVER, -one.astype(np.int8)), 9)
    assert buffer.runs[0].columns[0].tolist() == [3, 2, 1]


def test_many_equal_tuples_are_one() -> None:
    buffer, many = KeyedBuffer(), np.ones(1000, dtype=np.int64)
    forever = np.full(1000, FOREVER)
    add(buffer, many, Batch((many,), many, forever, many.astype(np.int8)), 1)
    add(buffer, many[:999], Batch((many[:999],), many[:999] + 1, forever[:999], -many[:999].astype(np.int8)), 2)
    assert len(buffer) == 1 and buffer.runs[0].sign.tolist() == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_equal_tuples_of_several_runs_are_deleted_one_by_one(kind: str) -> None:
    buffer, one = KINDS[kind](10, 0, MERGE_LITTLE), np.ones(1, dtype=np.int64)
    born = Batch((one,), one, np.full(1, FOREVER), one.astype(np.int8))
    add(buffer, one, born, 1)
    add(buffer, one, born, 1)
    assert sum(int(run.sign.sum()) for run in buffer.runs) == 2
    add(buffer, np.repeat(one, 2), Batch.concat([born.negated(), born.negated()]), 1)
    assert len(buffer) == 0


def test_snapshots_share_their_runs() -> None:
    for make in KINDS.values():
        buffer, keys = make(10, 0, DEFAULT), np.arange(9)
        add(buffer, keys, Batch((keys,), keys * 0, keys + 30, np.ones(9, dtype=np.int8)), 0)
        some, more = ({id(a) for a in arrays(buffer.snapshot())} for _ in range(2))
        assert some == more and some


def test_a_merge_drops_what_has_ended() -> None:
    keys = np.arange(4)
    run = TupleRun.of(Keyed.of(keys, Batch((keys,), keys, keys + 3, np.ones(4, dtype=np.int8))))
    merged = TupleRun.merge([run, run], now=4)  # what ended at 3 and 4 is gone, the others are there twice
    assert merged.end.tolist() == [5, 6] and merged.sign.tolist() == [2, 2]


BATCH, WINDOW = 500, 20_000


def feed(buffer: Buffer, lifetime: Callable[[int], Ints] | None) -> int:
    """Three windows of one tuple per tick; None: ends come as negative tuples. How many are alive at the end."""
    random, ends = np.random.default_rng(1), np.empty(0, dtype=np.int64)
    born: list[Batch] = []
    now = 0
    for now in range(BATCH, 3 * WINDOW, BATCH):
        ts = np.arange(now - BATCH, now) + 1
        key = random.integers(0, 100, BATCH)
        end = np.full(BATCH, FOREVER) if lifetime is None else ts + lifetime(BATCH)
        ends = np.append(ends, end)
        batch = Batch((key, ts), ts, end, np.ones(BATCH, dtype=np.int8))
        born.append(batch)
        add(buffer, key, batch, now)
        if lifetime is None and len(born) > WINDOW // BATCH:
            gone = born[-1 - WINDOW // BATCH]
            add(buffer, gone.columns[0], gone.negated().between(gone.start + WINDOW, gone.end), now)
    return int((ends > now).sum())


def add(buffer: Buffer, codes: Ints, batch: Batch, now: Instant, hashed: bool = True) -> None:
    """A batch as a join emits it: what ends inside is closed, what deletes deletes, the rest is kept."""
    arrivals = keyed(codes, batch, hashed).closed()
    found = buffer.delete(arrivals)
    buffer.keep(arrivals.take(~found), now)
    buffer.expire(now)


def codes(batch: Batch) -> Ints:
    return np.where(batch.columns[0] < 0, len(KEYS) - 1, batch.columns[0])


def alive(buffer: Buffer, code: int, now: Instant) -> Counter[tuple[Instant, Instant]]:
    found: Counter[tuple[Instant, Instant]] = Counter()
    for run, first, count in buffer.probe(np.array([code])):
        for i in range(int(first[0]), int(first[0] + count[0])):
            assert run.dates is not None
            if run.end[i] > now:
                found[int(run.dates.ts[i]), int(run.dates.exp[i])] += int(run.sign[i])
    return Counter({dates: n for dates, n in found.items() if n})


def alive_ends(buffer: Buffer, code: int) -> list[int]:
    slices = [(run, int(first[0]), int(count[0])) for run, first, count in buffer.probe(np.array([code]))]
    return sorted(int(end) for run, first, count in slices for end in run.end[first : first + count])


def arrays(tree: Any) -> list[Ints]:
    if isinstance(tree, np.ndarray):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else []
    return [array for part in parts for array in arrays(part)]
