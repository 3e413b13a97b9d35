"""Would catch a version of a table that is lost, seen at the wrong instant, or found by going through all others."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given

from kernel.operators.feeds import Signed, Step, contents, feeds, to_batch
from strategies.effort import examples
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.state.versions import Versions, VersionStore

SCHEMA = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT)


@examples(60)
@given(feeds(SCHEMA, most=16))
def test_any_instant_can_be_asked_for(steps: list[Step]) -> None:
    store, pool, fed = VersionStore(), StringPool(), list[Signed]()
    for step in steps:
        batch = to_batch(step.inputs[0], SCHEMA, pool)
        codes = np.where(batch.columns[0] < 0, 3, batch.columns[0])
        store.add(Versions.of(codes, batch))
        fed += step.inputs[0]
    for t in range(steps[-1].now + 3):
        for code, key in enumerate([0, 1, 2, None]):
            wanted = Counter(d.row[1] for d in contents(fed, t) if d.row[0] == key)
            assert _held(store, code, t) == wanted


def test_a_key_that_changes_all_the_time_is_found_at_once() -> None:
    store = VersionStore()
    for batch in range(100):
        ts = np.arange(batch * 50, batch * 50 + 50)
        new = Batch((ts,), ts, np.full(50, FOREVER), np.ones(50, dtype=np.int8))
        old = Batch((ts - 1,), ts, np.full(50, FOREVER), -np.ones(50, dtype=np.int8))
        fed = Batch.concat([new, old] if batch else [new, old.take(np.arange(1, 50))])
        store.add(Versions.of(np.zeros(len(fed), dtype=np.int64), fed))
    asked = np.arange(5000)
    counts = sum(count for _, _, count in store.find(np.zeros(5000, dtype=np.int64), asked))
    assert isinstance(counts, np.ndarray) and counts.max() <= 30
    assert all(_held(store, 0, t) == Counter([t]) for t in range(0, 5000, 333))


def _held(store: VersionStore, code: int, t: int) -> Counter[int | None]:
    held: Counter[int | None] = Counter()
    for tuples, first, count in store.find(np.array([code]), np.array([t])):
        for i in range(int(first[0]), int(first[0] + count[0])):
            if tuples.start[i] <= t < tuples.end[i]:
                value = int(tuples.columns[-1][i])
                held[None if value < 0 else value] += int(tuples.sign[i])
    return +held
