"""The group that a tuple belongs to: a hash of its key's values, the same in every process and every version."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.algebra.expressions import Expression
from thalweg.core.lanes import NULL, Ints, Lane, identity
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.sweep.evaluate import Evaluator

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
        mixed = np.zeros(rows, dtype=np.uint64)
        for lane, type_ in zip(self._evaluate(columns, rows), self._types, strict=True):
            known = self._of_strings(lane) if type_ is DataType.STRING else identity(lane)
            mixed = (mixed ^ known.view(np.uint64)) * _MULTIPLIER
            mixed ^= mixed >> _HALF
        return ((mixed >> _HALF) % np.uint64(self._groups)).astype(np.uint16)

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
        strings = self._pool.decode(new + first).cast(pa.binary()).to_pylist()
        self._hashes[new] = np.fromiter(map(crc32, strings), dtype=np.int64, count=len(new))
        hashes = np.full(len(codes), NULL)
        hashes[~missing] = self._hashes[places]
        return hashes


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
