"""Would catch a store that forgets a tuple, keeps one that was deleted, leaks, or wades through dead tuples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.feeds import Signed, Step, contents, examples, feeds, to_batch
from state.test_keyed import no_hash
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.state import intervals, keyed
from thalweg.state.intervals import IntervalStore
from thalweg.state.keyed import Keyed
from thalweg.state.run import Run

SCHEMA = Schema.of(k=DataType.BIGINT)
KEYS: list[Value] = [0, 1, 2, None]


@pytest.mark.parametrize("hashed", [True, False])
@examples(60)
@given(steps=feeds(SCHEMA, most=16), small=st.sampled_from([0, 4, 1024]))
def test_against_a_plain_list(hashed: bool, steps: list[Step], small: int) -> None:
    store, pool, told = IntervalStore(partitions=2), StringPool(), list[Signed]()
    with patch.object(intervals, "_SMALL", small), patch.object(keyed, "_hash", keyed._hash if hashed else no_hash):
        for step in steps:
            batch = to_batch(step.inputs[0], SCHEMA, pool)
            store.add(_codes(batch), batch, step.now)
            store.expire(step.now)
            told += step.inputs[0]
            for code, key in enumerate(KEYS):
                wanted = Counter((d.ts, d.exp) for d in contents(told, step.now) if d.row == (key,))
                assert _alive(store, code, step.now) == wanted


@examples(20)
@given(steps=feeds(SCHEMA, most=16), cut=st.integers(0, 10))
def test_a_snapshot_never_changes(steps: list[Step], cut: int) -> None:
    store, pool = IntervalStore(partitions=2), StringPool()
    batches = [(step.now, to_batch(step.inputs[0], SCHEMA, pool)) for step in steps]
    for now, batch in batches[:cut]:
        store.add(_codes(batch), batch, now)
    taken, now = store.snapshot(), batches[min(cut, len(batches) - 1)][0]
    before = [_alive(store, code, now) for code in range(len(KEYS))]
    for later, batch in batches[cut:]:
        store.add(_codes(batch), batch, later)
        store.expire(later)
    store.restore(taken)
    assert [_alive(store, code, now) for code in range(len(KEYS))] == before


BATCH, WINDOW = 500, 20_000


def test_first_in_first_out_meets_few_dead_tuples() -> None:
    store = _fed(negative=False, lifetime=lambda n: np.full(n, WINDOW))
    assert len(store) <= WINDOW * 1.11 and len(store.snapshot()) <= 2 * 10 + 5


def test_mixed_lifetimes_meet_not_many_dead_tuples() -> None:
    random = np.random.default_rng(0)
    store = _fed(negative=False, lifetime=lambda n: random.integers(1, WINDOW, n))
    assert len(store) <= WINDOW / 2 * 1.4 and len(store.snapshot()) <= 2 * 10 + 5


def test_negative_tuples_leak_nothing() -> None:
    store = _fed(negative=True, lifetime=lambda n: np.full(n, WINDOW))
    assert len(store) <= WINDOW * 1.4 and len(store.snapshot()) <= 2 * 10 + 5
    assert all((run.sign >= 0).all() for run in store.snapshot())


def test_many_equal_tuples_are_one() -> None:
    store, many = IntervalStore(), np.ones(1000, dtype=np.int64)
    forever = np.full(1000, FOREVER)
    store.add(many, Batch((many,), many, forever, many.astype(np.int8)), 1)
    store.add(many[:999], Batch((many[:999],), many[:999] + 1, forever[:999], -many[:999].astype(np.int8)), 2)
    assert len(store) == 1 and store.snapshot()[0].sign.tolist() == [1]


def test_equal_tuples_of_several_runs_are_deleted_one_by_one() -> None:
    store, one = IntervalStore(), np.ones(1, dtype=np.int64)
    born = Batch((one,), one, np.full(1, FOREVER), one.astype(np.int8))
    with patch.object(intervals, "_SMALL", 0):
        store.add(one, born, 1)
        store.add(one, born, 1)
        assert len(store.snapshot()) == 2
        store.add(np.repeat(one, 2), Batch.concat([born.negated(), born.negated()]), 1)
        store.expire(1)
    assert len(store) == 0


def test_a_merge_drops_what_has_ended() -> None:
    keys = np.arange(4)
    run = Run.of(Keyed.of(keys, Batch((keys,), keys, keys + 3, np.ones(4, dtype=np.int8))))
    merged = Run.merge([run, run], now=4)  # what ended at 3 and 4 is gone, the others are there twice
    assert merged.end.tolist() == [5, 6] and merged.sign.tolist() == [2, 2]


def _fed(negative: bool, lifetime: Callable[[int], Ints]) -> IntervalStore:
    """A store after three windows of one tuple per tick."""
    store, random = IntervalStore(), np.random.default_rng(1)
    born: list[Batch] = []
    for now in range(BATCH, 3 * WINDOW, BATCH):
        ts = np.arange(now - BATCH, now) + 1
        key = random.integers(0, 100, BATCH)
        end = np.full(BATCH, FOREVER) if negative else ts + lifetime(BATCH)
        batch = Batch((key, ts), ts, end, np.ones(BATCH, dtype=np.int8))
        born.append(batch)
        store.add(key, batch, now)
        if negative and len(born) > WINDOW // BATCH:
            gone = born[-1 - WINDOW // BATCH]
            store.add(gone.columns[0], gone.negated().between(gone.start + WINDOW, gone.end), now)
        store.expire(now)
    return store


def _codes(batch: Batch) -> Ints:
    return np.where(batch.columns[0] < 0, len(KEYS) - 1, batch.columns[0])


def _alive(store: IntervalStore, code: int, now: Instant) -> Counter[tuple[Instant, Instant]]:
    found: Counter[tuple[Instant, Instant]] = Counter()
    for run, first, count in store.probe(np.array([code])):
        for i in range(int(first[0]), int(first[0] + count[0])):
            assert run.dates is not None
            if run.end[i] > now:
                found[int(run.dates.ts[i]), int(run.dates.exp[i])] += int(run.sign[i])
    return Counter({dates: n for dates, n in found.items() if n})
