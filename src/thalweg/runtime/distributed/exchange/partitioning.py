"""The group that a tuple belongs to: a hash of its key's values, the same in every process and every version."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.algebra.expressions import Expression
from thalweg.core.byte_strings import ByteStrings
from thalweg.core.lanes import NULL, Ints, Lane, identity, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.sweep.evaluate import Evaluator
from thalweg.runtime.distributed.exchange.checksums import checksums

Groups = npt.NDArray[np.uint16]  # the group of each row

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_UNKNOWN = -1  # in place of a hash


class Partitioner:
    """Finds the groups of rows of `schema` by a key; the empty key means group 0."""

    def __init__(self, key: Sequence[Expression], schema: Schema, pool: StringPool, groups: int) -> None:
        self._evaluate = Evaluator(key, schema, pool)
        self._types = [part.type for part in key]
        self._pool, self._groups = pool, groups
        self._hashes: Ints = np.empty(0, dtype=np.int64)  # by code of the string pool
        self._version = -1  # of the pool, when these were its strings

    def groups(self, columns: Sequence[Lane], rows: int) -> Groups:
        """The group of each row."""
        if self._groups == 1 or not self._types:
            return np.zeros(rows, dtype=np.uint16)
        parts = zip(self._evaluate(columns, rows), self._types, strict=True)
        known = [self._of_strings(lane) if type_ is DataType.STRING else identity(lane) for lane, type_ in parts]
        return _mixed(known, self._groups)

    def _of_strings(self, codes: Ints) -> Ints:
        """A hash of each string's bytes; a string is hashed once, until the pool forgets some."""
        first, size = self._pool.bounds
        if self._version != self._pool.version or size > len(self._hashes):
            kept = self._hashes if self._version == self._pool.version else self._hashes[:0]
            self._hashes, self._version = np.full(2 * size, _UNKNOWN), self._pool.version
            self._hashes[: len(kept)] = kept
        missing = codes == NULL
        places = codes[~missing] - first
        new = np.unique(places[self._hashes[places] == _UNKNOWN])
        self._hashes[new] = checksums(self._pool.byte_strings(new + first))
        hashes = np.full(len(codes), NULL)
        hashes[~missing] = self._hashes[places]
        return hashes


def groups_of_columns(columns: Sequence[pa.Array], types: Sequence[DataType], groups: int) -> Groups:
    """The group of each row whose key are these Arrow columns, as a `Partitioner` finds it, but without a pool."""
    pool = StringPool()
    known = [
        _of_column(column) if type_ is DataType.STRING else identity(to_lane(column, type_, pool))
        for column, type_ in zip(columns, types, strict=True)
    ]
    return _mixed(known, groups)


def _of_column(column: pa.Array) -> Ints:
    hashes = np.full(len(column), NULL)
    known = slice(None) if not column.null_count else np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
    hashes[known] = checksums(ByteStrings.of(column.drop_null() if column.null_count else column))
    return hashes


def _mixed(known: Sequence[Ints], groups: int) -> Groups:
    """A group for each row, given a number for each part of its key."""
    mixed = np.zeros(len(known[0]), dtype=np.uint64)
    for part in known:
        mixed = (mixed ^ part.view(np.uint64)) * _MULTIPLIER
        mixed ^= mixed >> _HALF
    return ((mixed >> _HALF) % np.uint64(groups)).astype(np.uint16)


def sort_by_group(groups: Groups, count: int) -> tuple[Ints, Ints]:
    """The rows in order of their groups, and where each group begins; the last entry is where the last group ends."""
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(count + 1))


def rows_by_group(groups: Groups, count: int) -> list[Ints | slice]:
    """For each group the rows that belong to it, in order."""
    if count == 1:
        return [slice(None)]
    order, cuts = sort_by_group(groups, count)
    return [order[a:b] for a, b in pairwise(cuts.tolist())]
