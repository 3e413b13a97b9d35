"""Would catch a table that keeps a row beside the one it replaces, or lets a row be taken away that is not there."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import Lane
from thalweg.core.rows import Bag
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.runtime.distributed.ingest.table_updates import Updates

SCHEMA = Schema((Field("k", DataType.BIGINT), Field("v", DataType.BIGINT)))
ONE = st.tuples(st.integers(0, 9), st.sampled_from([1, 1, -1]), st.integers(0, 2), st.integers(0, 2))


def run(changes: list[tuple[int, int, int, int]], key: tuple[int, ...], size: int) -> tuple[dict[int, Bag], int]:
    """The table at every instant, and how many changes found nothing."""
    updates = Updates(SCHEMA, key, dated=False)
    gained: list[tuple[int, int, int, int]] = []
    unmatched = 0
    for i in range(0, len(changes), size):
        time, sign, *columns = (np.array(lane, dtype=np.int64) for lane in zip(*changes[i : i + size], strict=True))
        updates.add(columns, time, sign, 0)
        tree = updates.snapshot()
        updates = Updates(SCHEMA, key, dated=False)
        updates.restore(tree)
        for batch in [due] if (due := updates.due(int(time.max()))) else []:
            lanes: list[Lane] = [batch[0].start, batch[0].sign, *batch[0].columns]
            gained += zip(*(lane.tolist() for lane in lanes), strict=True)
            unmatched += len(batch[1])
    bags: dict[int, Bag] = {}
    for t in range(10):
        bag: Bag = Counter()
        for at, gain, *row in gained:
            bag[tuple(row)] += gain if at <= t else 0
        assert min(bag.values(), default=0) >= 0
        bags[t] = +bag
    return bags, unmatched


@given(st.lists(ONE, max_size=12).map(lambda changes: sorted(changes, key=lambda c: c[0])), st.integers(1, 5))
def test_a_key_has_the_last_row_that_came(changes: list[tuple[int, int, int, int]], size: int) -> None:
    held: dict[int, tuple[int, int]] = {}
    expected: dict[int, Bag] = {}
    missing = 0
    for t in range(10):
        for _, sign, k, v in (c for c in changes if c[0] == t):
            missing += sign < 0 and k not in held
            if sign > 0:
                held[k] = (k, v)
            else:
                held.pop(k, None)
        expected[t] = Counter(held.values())
    assert run(changes, (0,), size) == (expected, missing)


@given(
    st.lists(ONE, max_size=12).map(lambda changes: sorted(changes, key=lambda c: (c[0], -c[1]))),
    st.sampled_from([12, 4]),
)
def test_without_a_key_rows_are_counted(changes: list[tuple[int, int, int, int]], size: int) -> None:
    held: Bag = Counter()
    expected: dict[int, Bag] = {}
    missing = 0
    for t in range(10):
        for _, sign, *row in (c for c in changes if c[0] == t):
            if sign < 0 and not held[tuple(row)]:
                missing += 1
            else:
                held[tuple(row)] += sign
        expected[t] = +held
    assert run(changes, (), size) == (expected, missing)
