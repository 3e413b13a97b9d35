"""Would catch codes that mean other keys after a restore, that are given out twice, or that snapshots write anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import NULL, Ints
from thalweg.core.types import DataType
from thalweg.kernel.state.coder import KeyCoder, LaneCoder
from thalweg.kernel.state.table import KeyTable

NUMBERS = st.integers(-5, 5) | st.integers(-(2**62), 2**62) | st.just(int(NULL))
BATCHES = st.lists(st.tuples(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), st.sets(st.integers(0, 9))), max_size=6)


def lanes(rows: list[tuple[int, int]], width: int) -> list[Ints]:
    return [np.array([row[i] for row in rows], dtype=np.int64) for i in range(width)]


@given(st.integers(0, 2), BATCHES)
def test_a_coder_that_is_restored_before_every_batch(
    width: int, batches: list[tuple[list[tuple[int, int]], set[int]]]
) -> None:
    coder, seen = KeyCoder(width), dict[tuple[int, ...], int]()
    for rows, _ in batches:
        fresh = KeyCoder(width)
        fresh.restore(coder.snapshot())
        assert fresh.size == coder.size
        coder = fresh
        for row, code in zip(rows, coder.encode(lanes(rows, width), len(rows)).tolist(), strict=True):
            assert seen.setdefault(row[:width], code) == code
    assert len(set(seen.values())) == len(seen)


@given(st.integers(1, 2), BATCHES)
def test_a_table_whose_keys_are_released_and_that_is_restored_before_every_batch(
    width: int, batches: list[tuple[list[tuple[int, int]], set[int]]]
) -> None:
    table, known = KeyTable([DataType.BIGINT] * width), dict[tuple[int, ...], int]()
    for rows, leaving in batches:
        fresh = KeyTable([DataType.BIGINT] * width)
        fresh.restore(table.snapshot())
        assert fresh.size == table.size
        table = fresh
        codes = table.encode(lanes(rows, width), len(rows)).tolist()
        assert all(known.setdefault(row[:width], code) == code for row, code in zip(rows, codes, strict=True))
        assert len(set(known.values())) == len(known)
        decoded = table.decode(np.array(list(known.values()), dtype=np.int64))
        assert list(zip(*(lane.tolist() for lane in decoded), strict=True)) == list(known)
        gone = [code for code in known.values() if code in leaving]
        table.release(np.array(gone, dtype=np.int64))
        if table._narrow is None:  # a narrow table knows its keys for ever
            known = {key: code for key, code in known.items() if code not in leaving}


def test_released_codes_are_given_out_again_after_a_restore() -> None:
    table = KeyTable([DataType.BIGINT] * 2)
    key = np.arange(100)
    table.release(table.encode([key, key], 100)[:50])
    fresh = KeyTable([DataType.BIGINT] * 2)
    fresh.restore(table.snapshot())
    fresh.encode([key[:50] + 1000, key[:50]], 50)
    assert fresh.size == 100


def test_snapshots_of_codes_share_what_earlier_ones_have() -> None:
    for step in (1, 10**9):  # by table, by hash
        coder = LaneCoder()
        coder.encode(np.arange(1000) * step)
        first = coder.snapshot()["_log"]
        coder.encode(np.arange(1100) * step)
        second = coder.snapshot()["_log"]
        assert second[0][0] is first[0][0] and len(second[1][0]) == 100
        assert coder.snapshot()["_log"][1][0] is second[1][0]
