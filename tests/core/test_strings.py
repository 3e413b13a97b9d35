"""Would catch a code that means two strings, a string that is lost or never forgotten, also over snapshots."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.byte_strings import ByteStrings
from thalweg.core.errors import SnapshotError
from thalweg.core.strings import StringPool
from thalweg.core.value_pool import ValuePool

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


def test_a_pool_that_has_grown_since_goes_back() -> None:
    pool = StringPool()
    pool.code("a")
    tree = pool.snapshot()
    pool.code("b")
    pool.restore(tree)
    first = pool.code("a")
    assert (pool.code("b"), pool.code("c")) == (first + 1, first + 2)


def test_strings_that_a_snapshot_has_are_shared() -> None:
    pool = StringPool()
    for i in range(100):
        pool.code(f"name {i}")
    first = pool.snapshot()["runs"]
    pool.code("another")
    second = pool.snapshot()["runs"]
    assert all(one is other for one, other in zip(first[0], second[0], strict=True))
    assert len(second[1][0]) == 1


def test_codes_that_have_been_given_to_others_are_refused() -> None:
    pool, other = StringPool(), StringPool()
    pool.code("a")
    other.code("b")
    with pytest.raises(SnapshotError, match="string 0 of the snapshot is 'a', but here it is 'b' already"):
        other.restore(pool.snapshot())


def test_a_code_that_a_caller_keeps_never_means_another_string() -> None:
    pool, other = StringPool(), StringPool()
    for text in ("a", "b"):
        pool.code(text)
    for text in ("x", "y", "b"):  # the last is kept as 2, which the snapshot has not given out
        other.code(text)
    with pytest.raises(SnapshotError, match=r"here it is '[xyb]' already"):
        other.restore(pool.snapshot())


def strings(words: list[str | None]) -> pa.Array:
    return pa.array(words, pa.string())


def keep(pool: StringPool, codes: list[int]) -> None:
    first, size = pool.bounds
    marks = np.zeros(size, dtype=np.bool_)
    marks[np.array(codes, dtype=np.int64) - first] = True
    pool.keep(marks, 0)


# Words of every length around those of a machine's words, alike except for one end, and some too long to be hashed.
WORD = st.text(max_size=20) | st.builds(
    lambda n, s: "x" * n + s, st.integers(0, 90), st.sampled_from(["", "a", "\0", "é"])
)
BATCH = st.tuples(st.lists(st.none() | WORD, max_size=8), st.sets(st.integers(0, 30)), st.booleans())


@pytest.mark.parametrize("same_hash", [False, True], ids=["hashes", "all hashes are equal"])
@given(batches=st.lists(BATCH, max_size=8))
def test_strings_come_and_go(same_hash: bool, batches: list[tuple[list[str | None], set[int], bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if same_hash:  # as an attacker may choose them
            patch.setattr(ByteStrings, "hashes", lambda self, words=None: np.zeros(len(self.length), dtype=np.int64))
        pool, known = StringPool(), dict[str, int]()
        for words, leaving, restart in batches:
            codes = pool.encode(strings(words))
            assert pool.decode(codes).to_pylist() == words
            for word, code in zip(words, codes.tolist(), strict=True):
                assert word is None or known.setdefault(word, code) == code
            assert len(set(known.values())) == len(known) == len(pool)
            texts, given_codes = list(known), np.array(list(known.values()), dtype=np.int64)
            assert pool.decode(given_codes).to_pylist() == texts
            assert [texts[i] for i in np.argsort(pool.ranks(given_codes))] == sorted(texts)
            known = {word: code for place, (word, code) in enumerate(known.items()) if place not in leaving}
            keep(pool, list(known.values()))
            if restart:
                fresh = StringPool()
                fresh.restore(pool.snapshot())
                assert fresh.bounds == pool.bounds and fresh.codes().tolist() == pool.codes().tolist()
                pool = fresh


def test_a_freed_code_stands_for_nothing_until_it_is_given_out_again() -> None:
    pool = StringPool()
    codes = pool.encode(strings(["a", "b", "c"]))
    keep(pool, [int(codes[1])])
    with pytest.raises(IndexError):
        pool.decode(codes[:1])
    assert pool.encode(strings(["d"]))[0] in (codes[0], codes[2])


def test_memory_and_snapshots_do_not_grow_with_what_has_passed() -> None:
    pool, sizes = StringPool(), []
    for i in range(60):
        codes = pool.encode(strings([f"a string that is new in batch {i}: {n}" for n in range(1000)]))
        keep(pool, codes.tolist())
        saved = pool.snapshot()
        sizes.append((pool.nbytes, sum(lane.nbytes for run in saved["runs"] for lane in run), saved["size"]))
    memory, saved_bytes, codes_given = (np.array(column) for column in zip(*sizes, strict=True))
    assert memory[10:].max() <= 2 * memory[:10].max()
    assert saved_bytes[10:].max() <= 3 * saved_bytes[0]
    assert codes_given.max() <= 2000


def test_strings_of_the_first_version_keep_their_codes() -> None:
    texts = ["c", "", "äö", "x" * 100, "a"]
    encoded = [text.encode() for text in texts]
    lengths, text = np.array([len(e) for e in encoded]), np.frombuffer(b"".join(encoded), dtype=np.uint8)
    cut = int(lengths[:2].sum())
    pool = StringPool()
    pool.restore([(lengths[:2], text[:cut]), (lengths[2:], text[cut:])])
    assert pool.decode(np.arange(5)).to_pylist() == texts
    assert pool.encode(strings([*texts, "new"])).tolist() == [0, 1, 2, 3, 4, 5]
    again = StringPool()
    again.restore(pool.snapshot())
    assert again.decode(np.arange(6)).to_pylist() == [*texts, "new"]


@pytest.mark.parametrize("distinct", [3, 50_000], ids=["few", "many"])
def test_columns_of_any_layout(distinct: int) -> None:
    words = [f"word {n % distinct}" if n % 7 else None for n in range(50_000)]
    pool, array = StringPool(), strings([None, *words, "behind"])[1:-1]
    codes = pool.encode(array)
    assert pool.decode(codes).to_pylist() == words
    assert pool.encode(array.cast(pa.large_string())).tolist() == codes.tolist()
    assert pool.encode(array.dictionary_encode()).tolist() == codes.tolist()


def test_values_of_other_types_can_be_coded_alike() -> None:
    pool, values = ValuePool(pa.large_binary()), [b"\xff\x00", None, b"", b"\xff\x00", b"\x80" * 100]
    codes = pool.encode(pa.array(values, pa.binary()))
    assert pool.decode(codes).to_pylist() == values and len(pool) == 3
    fresh = ValuePool(pa.large_binary())
    fresh.restore(pool.snapshot())
    assert fresh.encode(pa.array(values, pa.large_binary())).tolist() == codes.tolist()
