"""Hash codes against a dictionary, with keys that come, go and come back.

Would catch: two keys with one code, a key that a removed one hides, a code given out twice, codes that pile up although
keys are released, a walk beyond the end of the table.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.hash_table import HashTable
from thalweg.core.lanes import NULL
from thalweg.core.types import DataType
from thalweg.kernel.state.table import KeyTable

NUMBERS = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30)


@given(st.integers(1, 2), st.lists(st.tuples(ROWS, st.sets(st.integers(0, 20))), max_size=6))
def test_codes_are_equal_where_keys_are(width: int, batches: list[tuple[list[tuple[int, int]], set[int]]]) -> None:
    table, known = HashTable(width), dict[tuple[int, ...], int]()
    for rows, leaving in batches:
        keys = [row[:width] for row in rows]
        codes = table.encode([np.array([k[i] for k in keys], dtype=np.int64) for i in range(width)]).tolist()
        assert all(known.setdefault(k, code) == code for k, code in zip(keys, codes, strict=True))
        assert len(set(known.values())) == len(known)
        assert all(0 <= code < table.size for code in codes)
        gone = {k: code for k, code in known.items() if code in leaving}
        lanes = [np.array([k[i] for k in gone], dtype=np.int64) for i in range(width)]
        table.release(lanes, np.array(list(gone.values()), dtype=np.int64))
        known = {k: code for k, code in known.items() if k not in gone}


def test_codes_do_not_pile_up() -> None:
    table = HashTable(1)
    for i in range(200):
        key = np.arange(1000) + 1000 * i
        table.release([key], table.encode([key]))
    assert table.size == 1000


@pytest.mark.parametrize("step", [1, 2**32, 2**40, 12345678901])
def test_regular_keys_find_their_places(step: int) -> None:
    table = HashTable(1)
    key = np.arange(20_000) * step
    codes = table.encode([key])
    assert sorted(codes.tolist()) == list(range(20_000))
    assert (table.encode([key[::-1]]) == codes[::-1]).all()


@given(st.lists(st.lists(NUMBERS | st.just(int(NULL)), max_size=8), max_size=6))
def test_a_table_gives_keys_back(batches: list[list[int]]) -> None:
    table, known = KeyTable([DataType.BIGINT]), dict[int, int]()
    for batch in batches:
        codes = table.encode([np.array(batch, dtype=np.int64)], len(batch)).tolist()
        known |= dict(zip(codes, batch, strict=True))
        assert table.decode(np.array(list(known), dtype=np.int64))[0].tolist() == list(known.values())
        assert len(set(known.values())) == len(known)


def test_a_table_of_doubles_and_one_without_lanes() -> None:
    table = KeyTable([DataType.DOUBLE, DataType.STRING])
    codes = table.encode([np.array([0.0, -0.0, np.nan, np.nan, 2.5]), np.array([1, 1, 7, 7, NULL])], 5)
    assert codes[0] == codes[1] and codes[2] == codes[3] and len(set(codes.tolist())) == 3
    doubles, strings = table.decode(codes[1:])
    assert doubles[0] == 0.0 and np.isnan(doubles[1]) and doubles[3] == 2.5
    assert strings.tolist() == [1, 7, 7, NULL]
    assert KeyTable([]).encode([], 3).tolist() == [0, 0, 0] and KeyTable([]).size == 1
    assert KeyTable([]).decode(np.zeros(2, dtype=np.int64)) == ()
