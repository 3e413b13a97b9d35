"""Would catch codes that mean other keys after a restore, that are given out twice, or that snapshots write anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import NULL, Ints
from thalweg.core.types import DataType
from thalweg.kernel.state.snapshot import KIND
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.state.upgrades import upgraded

NUMBERS = st.integers(-5, 5) | st.integers(-(2**62), 2**62) | st.just(int(NULL))
BATCHES = st.lists(st.tuples(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=8), st.sets(st.integers(0, 9))), max_size=6)


def lanes(rows: Sequence[tuple[int, ...]], width: int) -> list[Ints]:
    return [np.array([row[i] for row in rows], dtype=np.int64) for i in range(width)]


@given(st.integers(0, 2), BATCHES)
def test_a_coder_that_is_restored_before_every_batch(
    width: int, batches: list[tuple[list[tuple[int, int]], set[int]]]
) -> None:
    coder, seen = KeyTable.of_width(width), dict[tuple[int, ...], int]()
    for rows, _ in batches:
        fresh = KeyTable.of_width(width)
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
        known = {key: code for key, code in known.items() if code not in leaving}
        assert table.used == len(known)


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
        coder = KeyTable.of_width(1)
        coder.encode([np.arange(1000) * step], 1000)
        first = coder.snapshot()["keys"][0]["<array>"]
        coder.encode([np.arange(1020) * step], 1020)  # there is room for some more
        second = coder.snapshot()["keys"][0]["<array>"]
        if len(coder._lanes[0].values) == first["shape"][0]:
            assert second["base"] is first["base"] and len(second["runs"][0][0]) == 20
        again = coder.snapshot()["keys"][0]["<array>"]
        assert again["base"] is second["base"] and again["runs"] == second["runs"]


def codes_of_the_first_version(columns: list[Ints]) -> dict[str, object]:
    """As the class of that time saved them: by lane its values, then pairs of codes."""

    def saved(values: Ints) -> dict[str, object]:
        half = len(values) // 2
        return upgraded({KIND: "lane-codes/1", "_log": [(values[:half],), (values[half:],)]})

    coded, pairs, so_far = [], [], None
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        coded.append(saved(values))
        if so_far is None:
            so_far = codes
        else:
            packed, so_far = np.unique((so_far << 32) | codes, return_inverse=True)
            pairs.append(saved(packed))
    return {KIND: "key-codes/1", "_lanes": coded, "_pairs": pairs}


@given(st.integers(0, 3), st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_codes_of_the_first_version_mean_the_same_keys(width: int, rows: list[tuple[int, int, int]]) -> None:
    columns = lanes(rows, width)
    table = KeyTable.of_width(width)
    table.restore(upgraded(codes_of_the_first_version(columns)))
    if width:
        codes = table.encode(columns, len(rows))
        assert table.size == len({row[:width] for row in rows})  # none is new
        assert [lane.tolist() for lane in table.decode(codes)] == [column.tolist() for column in columns]
    else:
        assert table.encode([], 3).tolist() == [0, 0, 0]
