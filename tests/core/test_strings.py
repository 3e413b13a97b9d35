"""Would catch a restored pool in which a code means another string, or a snapshot that writes all strings anew."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.errors import SnapshotError
from thalweg.core.strings import StringPool

TEXTS = st.lists(st.text(max_size=3), max_size=6)


@given(TEXTS, TEXTS, TEXTS)
def test_codes_mean_the_same_strings(literals: list[str], before: list[str], after: list[str]) -> None:
    pool, fresh = StringPool(), StringPool()
    for literal in literals:  # as when a plan is built
        assert pool.code(literal) == fresh.code(literal)
    pool.snapshot()
    codes = pool.encode(pa.array(before, pa.string()))
    fresh.restore(pool.snapshot())
    assert fresh.decode(codes).to_pylist() == before
    assert fresh.encode(pa.array(after, pa.string())).tolist() == pool.encode(pa.array(after, pa.string())).tolist()
    assert fresh.ranks(codes).tolist() == pool.ranks(codes).tolist()


def test_a_pool_that_has_grown_since_goes_back_without_forgetting() -> None:
    pool = StringPool()
    pool.code("a")
    tree = pool.snapshot()
    pool.code("b")
    pool.restore(tree)
    assert (pool.code("a"), pool.code("b"), pool.code("c")) == (0, 1, 2)


def test_strings_that_a_snapshot_has_are_shared() -> None:
    pool = StringPool()
    for i in range(100):
        pool.code(f"name {i}")
    first = pool.snapshot()
    pool.code("another")
    second = pool.snapshot()
    assert second[0][0] is first[0][0] and second[0][1] is first[0][1]
    assert len(second[1][0]) == 1


def test_codes_that_have_been_given_to_others_are_refused() -> None:
    pool, other = StringPool(), StringPool()
    pool.code("a")
    other.code("b")
    with pytest.raises(SnapshotError, match="string 0 of the snapshot is 'a', but here it is 'b' already"):
        other.restore(pool.snapshot())
