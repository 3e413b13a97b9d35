"""A pool of values: stores each value once, under an integer, its code, for as long as state names it.

Values come and go with windows, but nobody counts who names a code. So now and then, between two batches, whoever owns
the pool reads all integers that its state holds (`kernel/state/marking.py`), and the codes that are not among them are
free to be given to other values. A stored integer that happens to look like a code keeps at most one value, so what is
left are at most as many values as the state has integers. Codes begin at a number that data hardly ever has, so in
practice these are the values that are needed.

A value is a string of bytes here. It is found by a hash of its bytes, and compared; a long value, or one whose hash
another value has, is found by a digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.core.byte_strings import Arena, ByteStrings
from thalweg.core.forgetting import FORGETTING, FreeCodes
from thalweg.core.hash_table import HashTable
from thalweg.core.string_runs import StringRuns

Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NULL = -(2**63)  # in place of a code
_FIRST = 1 << 57  # the first code: beyond all times in microseconds, before all in nanoseconds, no DOUBLE's usual bits
_LONGEST_HASHED = 64  # bytes; a longer value is known by its digest
_SAMPLE = 4096  # values that show whether most values of a column are repeated


class ValuePool:
    """Values by code. The cost of a batch depends on its own values, never on those that the pool has."""

    def __init__(self, type_: pa.DataType) -> None:
        """`type_` is Arrow's type of the values: large strings, or large binary."""
        self._type = type_
        self._first = _FIRST
        self.version = 0  # another one when a code may stand for another value than before
        self._clear(FreeCodes())

    def _clear(self, codes: FreeCodes) -> None:
        """Forget all values. Below, places are codes counted from the first one."""
        self._codes = codes
        self._hashed = HashTable(1, codes)
        self._others: dict[bytes, int] = {}  # by digest, long values and those whose hash another value has
        self._arena = Arena(self._type)
        self._hashes: Codes = np.zeros(16, dtype=np.int64)  # by place
        self._slots: Codes = np.full(16, -1)  # by place, where the arena has the value; -1 for a free place
        self._runs = StringRuns(self._type)
        self._forget_at = FORGETTING.next_at(0, 0)

    def __len__(self) -> int:
        """The number of values."""
        return self._codes.used

    @property
    def nbytes(self) -> int:
        """The memory of the values and their codes."""
        return self._arena.used + self._hashes.nbytes + self._slots.nbytes + self._hashed.nbytes

    @property
    def bounds(self) -> tuple[int, int]:
        """The first code, and the number of codes from there on, of which some may be free."""
        return self._first, self._codes.size

    def codes(self) -> Codes:
        """The codes of all values."""
        return np.flatnonzero(~self._codes.is_free()) + self._first

    def encode(self, array: pa.Array) -> Codes:
        """The codes of an Arrow column; new values get new codes."""
        if not array.null_count:
            return self._encode(array)
        codes = np.full(len(array), NULL)
        codes[np.asarray(array.is_valid().to_numpy(zero_copy_only=False))] = self._encode(array.drop_null())
        return codes

    def decode(self, codes: Codes) -> pa.Array:
        """The values of codes, as an Arrow column."""
        missing = codes == NULL
        known = not missing.any()
        slots = self._slots[codes - self._first if known else np.where(missing, 0, codes - self._first)]
        return self._arena.array().take(pa.array(slots, mask=None if known else missing))

    def byte_strings(self, codes: Codes) -> ByteStrings:
        """The bytes of the values of codes, none of which is NULL."""
        return self._arena.strings(self._slots[codes - self._first])

    # -- forgetting

    @property
    def is_due(self) -> bool:
        """Whether there are so many new values that it is time to look for those that nothing names."""
        return FORGETTING.every_batch or len(self) >= self._forget_at

    def keep(self, marks: Flags, work: int) -> None:
        """Forget all values whose codes, counted from the first, have no mark; `work` integers were read for it."""
        used = ~self._codes.is_free()
        dead = np.flatnonzero(used & ~marks)
        if len(dead):
            self._forget(dead, np.flatnonzero(used & marks))
        self._forget_at = FORGETTING.next_at(len(self), work)

    def _forget(self, dead: Codes, alive: Codes) -> None:
        self.version += 1
        self._codes.give(dead)
        self._codes.settle()
        gone = set(dead.tolist()) if self._others else set()
        self._others = {digest: place for digest, place in self._others.items() if place not in gone}
        hashed = self._with_own_hash(alive)
        self._hashed.fill([self._hashes[hashed]], hashed)
        self._runs.forget(dead)
        self._slots[dead] = -1
        slots = self._slots[alive]
        if 2 * int(self._arena.strings(slots).length.sum()) < self._arena.used:
            old, self._arena = self._arena, Arena(self._type)
            self._slots[alive] = self._arena.append(old.array().take(pa.array(slots)))
        self._slots, self._hashes = (_shorter(lane, self._codes.size) for lane in (self._slots, self._hashes))

    def _with_own_hash(self, places: Codes) -> Codes:
        """The places whose strings the hash table finds; a string may have the hash of one that was forgotten."""
        if not self._others:
            return places
        others = np.fromiter(self._others.values(), dtype=np.int64, count=len(self._others))
        short = others[self._arena.strings(self._slots[others]).length <= _LONGEST_HASHED]
        candidates = np.append(places[~np.isin(places, others)], short)  # first those that have had the hash so far
        found = candidates[_firsts(self._hashes[candidates])]
        gone = set(found.tolist())
        self._others = {digest: place for digest, place in self._others.items() if place not in gone}
        return found

    def _at(self, places: Codes) -> pa.Array:
        return self._arena.array().take(pa.array(self._slots[places]))

    # -- state

    def snapshot(self) -> dict[str, Any]:
        """The values by code; later snapshots share what has not changed."""
        free, left = self._codes.saved()
        return {
            "first": self._first,
            "size": self._codes.size,
            "free": free,
            "left": left,
            "forget_at": self._forget_at,
            "runs": self._runs.save(np.flatnonzero(~self._codes.is_free()), self._at),
        }

    def restore(self, tree: Any) -> None:
        """Take over the values of a snapshot with their codes."""
        saved = tree if isinstance(tree, Mapping) else _of_first_version(tree)
        self.version += 1
        self._first = saved["first"]
        self._clear(FreeCodes(saved["size"], saved["free"], saved["left"]))
        self._forget_at = saved["forget_at"]
        self._runs = StringRuns(self._type, saved["runs"])
        self._adopt(*self._runs.read(saved["size"], self._codes.free))

    def _adopt(self, places: Codes, array: pa.Array) -> None:
        """Take values with their places, into an empty pool."""
        self._fit()
        if not len(places):
            return
        strings = ByteStrings.of(array)
        self._slots[places] = self._arena.append(array)
        short = np.flatnonzero(strings.length <= _LONGEST_HASHED)
        self._hashes[places[short]] = strings.take(short).hashes()
        hashed = short[_firsts(self._hashes[places[short]])]
        self._hashed.fill([self._hashes[places[hashed]]], places[hashed])
        apart = np.ones(len(places), dtype=np.bool_)
        apart[hashed] = False
        for row in np.flatnonzero(apart).tolist():
            self._others[_digest(strings, row)] = int(places[row])

    # -- codes of new values

    def _encode(self, array: pa.Array) -> Codes:
        """The codes of values without nulls."""
        sample = min(_SAMPLE, len(array) // 16)
        if 2 * len(array.slice(0, sample).unique()) < sample:
            encoded = array.dictionary_encode()
            return np.asarray(self._encode_each(encoded.dictionary)[encoded.indices.to_numpy()])
        return self._encode_each(array)

    def _encode_each(self, array: pa.Array) -> Codes:
        strings = ByteStrings.of(array) if len(array) else None
        if strings is None:
            return np.empty(0, dtype=np.int64)
        long = np.flatnonzero(strings.length > _LONGEST_HASHED)
        if not len(long):
            places, apart = self._by_hash(array, strings, np.arange(len(array)))
        else:
            places = np.empty(len(array), dtype=np.int64)
            short = np.flatnonzero(strings.length <= _LONGEST_HASHED)
            places[short], apart = self._by_hash(array, strings.take(short), short)
            apart = np.append(apart, long)
        if len(apart):
            places[apart] = self._by_digest(array, strings, apart)
        return places + self._first

    def _by_hash(self, array: pa.Array, strings: ByteStrings, rows: Codes) -> tuple[Codes, Codes]:
        """The places of short strings, given with their rows; and the rows whose hash belongs to another string."""
        words = strings.words()
        hashes = strings.hashes(words)
        places = self._hashed.encode([hashes])
        self._fit()
        new = np.flatnonzero(self._slots[places] < 0) if self._hashed.new else rows[:0]
        self._hashed.new.clear()
        if len(new):
            self._slots[places[new]] = new  # the last of several rows with one new string
            new = new[self._slots[places[new]] == new]
            self._hashes[places[new]] = hashes[new]
            self._slots[places[new]] = self._arena.append(array.take(pa.array(rows[new])))
        differ = ~strings.equal(self._arena.strings(self._slots[places]), words)
        return places, rows[differ]

    def _by_digest(self, array: pa.Array, strings: ByteStrings, rows: Codes) -> Codes:
        """The places of strings that the hash table cannot tell apart."""
        places = []
        for row in rows.tolist():
            digest = _digest(strings, row)
            if digest not in self._others:
                self._others[digest] = int(self._codes.take(1)[0])
                self._fit()
                self._slots[self._others[digest]] = self._arena.append(array.slice(row, 1))[0]
                if strings.length[row] <= _LONGEST_HASHED:
                    self._hashes[self._others[digest]] = strings.take(np.array([row])).hashes()[0]
            places.append(self._others[digest])
        return np.array(places, dtype=np.int64)

    def _fit(self) -> None:
        """Make room for all places; those that were never used have no slot."""
        size, room = self._codes.size, len(self._slots)
        if size > room:
            more = max(size, 2 * room) - room
            self._hashes = np.pad(self._hashes, (0, more))
            self._slots = np.pad(self._slots, (0, more), constant_values=-1)


def _digest(strings: ByteStrings, row: int) -> bytes:
    begin = int(strings.start[row])
    return blake2b(strings.data[begin : begin + int(strings.length[row])].data, digest_size=32).digest()


def _firsts(hashes: Codes) -> Codes:
    """The first row of each hash."""
    order = np.argsort(hashes, kind="stable")
    return order[np.append(True, hashes[order[1:]] != hashes[order[:-1]])] if len(order) else order


def _shorter(lane: Codes, size: int) -> Codes:
    """A lane by place without places that are long gone."""
    return lane[: max(16, 2 * size)].copy() if len(lane) > max(16, 4 * size) else lane


def _of_first_version(runs: list[Any]) -> dict[str, Any]:
    """A snapshot of the first version: the codes are 0, 1, 2 ..., and no string was ever forgotten."""
    size, numbered = 0, []
    for lengths, text in runs:
        numbered.append((np.arange(size, size + len(lengths)), lengths, text))
        size += len(lengths)
    return {"first": 0, "size": size, "free": np.empty(0, dtype=np.int64), "left": 0, "forget_at": 0, "runs": numbered}
