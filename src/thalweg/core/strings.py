"""The string pool: stores each string of an engine once, under an integer, its code, for as long as state names it.

Strings come and go with windows, but nobody counts who names a code. So now and then, between two batches, whoever owns
the pool reads all integers that its state holds (`kernel/state/marking.py`), and the codes that are not among them are
free to be given to other strings. A stored integer that happens to look like a code keeps at most one string, so what
is left are at most as many strings as the state has integers. Codes begin at a number that data hardly ever has, so in
practice these are the strings that are needed.

Values of other types can be coded alike, as byte strings: the arena and the hashes know no more of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.byte_strings import Arena, ByteStrings
from thalweg.core.errors import DataError, SnapshotError
from thalweg.core.forgetting import FORGETTING, FreeCodes
from thalweg.core.hash_table import HashTable
from thalweg.core.string_runs import StringRuns

Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_NULL = -(2**63)
_FIRST = 1 << 57  # the first code: beyond all times in microseconds, before all in nanoseconds, no DOUBLE's usual bits
_LONGEST_HASHED = 64  # bytes; a longer string is known by its digest
_SAMPLE = 4096  # strings that show whether most strings of a column are repeated


class StringPool:
    """Strings by code. The cost of a batch depends on its own strings, never on those that the pool has."""

    def __init__(self) -> None:
        self._first = _FIRST
        self.version = 0  # another one when a code may stand for another string than before
        self._literals: dict[str, int] = {}
        self._clear(FreeCodes())

    def _clear(self, codes: FreeCodes) -> None:
        """Forget all strings; below, places are codes without the first one."""
        self._codes = codes
        self._hashed = HashTable(1, codes)
        self._others: dict[bytes, int] = {}  # by digest, long strings and those whose hash another string has
        self._arena = Arena()
        self._hashes: Codes = np.zeros(16, dtype=np.int64)  # by place
        self._slots: Codes = np.full(16, -1)  # by place, where the arena has the string; -1 for a free place
        self._runs = StringRuns()
        self._forget_at = FORGETTING.next_at(0, 0)

    def __len__(self) -> int:
        """The number of strings."""
        return self._codes.used

    @property
    def nbytes(self) -> int:
        """The memory of the strings and their codes."""
        return self._arena.used + self._hashes.nbytes + self._slots.nbytes + self._hashed.nbytes

    def codes(self) -> Codes:
        """The codes of all strings."""
        return np.flatnonzero(~self._codes.is_free()) + self._first

    def encode(self, array: pa.Array) -> Codes:
        """The codes of an Arrow string column; new strings get new codes."""
        if not array.null_count:
            return self._encode(array)
        codes = np.full(len(array), _NULL)
        codes[np.asarray(array.is_valid().to_numpy(zero_copy_only=False))] = self._encode(array.drop_null())
        return codes

    def code(self, string: str) -> int:
        """The code of one string, for callers that keep it: a restore that gives it another meaning is refused."""
        if string not in self._literals:
            self._literals[string] = int(self.encode(pa.array([string], pa.string()))[0])
        return self._literals[string]

    def decode(self, codes: Codes) -> pa.Array:
        """The strings of codes, as an Arrow column."""
        missing = codes == _NULL
        known = not missing.any()
        slots = self._slots[codes - self._first if known else np.where(missing, 0, codes - self._first)]
        taken = self._arena.array().take(pa.array(slots, mask=None if known else missing))
        try:
            return taken.cast(pa.string())
        except pa.ArrowInvalid:
            raise DataError(
                f"a batch has {taken.nbytes / 2**30:.1f} GiB of text in one column, and a column can have 2",
                hint="let fewer rows arrive at a time, or cut the strings: SUBSTR(column, 1, 1000)",
            ) from None

    def byte_strings(self, codes: Codes) -> ByteStrings:
        """The UTF-8 of the strings of codes, none of which is NULL."""
        return self._arena.strings(self._slots[codes - self._first])

    def ranks(self, codes: Codes) -> Codes:
        """For each code the rank of its string among the strings of these codes, by code point; NULL stays NULL."""
        distinct, places = np.unique(codes, return_inverse=True)
        known = len(distinct) - int((distinct == _NULL).any())
        ranks = np.full(len(distinct), _NULL)
        strings = distinct[len(distinct) - known :]  # NULL is the least
        order = np.asarray(pc.array_sort_indices(self.decode(strings)).to_numpy(), dtype=np.int64)
        ranks[len(distinct) - known + order] = np.arange(known)
        return ranks[places]

    # -- forgetting

    @property
    def is_due(self) -> bool:
        """Whether there are so many new strings that it is time to look for those that nothing names."""
        return FORGETTING.every_batch or len(self) >= self._forget_at

    @property
    def bounds(self) -> tuple[int, int]:
        """The first code, and the number of codes from there on, of which some may be free."""
        return self._first, self._codes.size

    def keep(self, marks: Flags, work: int) -> None:
        """Forget all strings whose codes, counted from the first, have no mark; `work` integers were read for it."""
        used = ~self._codes.is_free()
        dead = np.flatnonzero(used & ~marks)
        if len(dead):
            self._forget(dead, np.flatnonzero(used & marks))
        self._forget_at = FORGETTING.next_at(len(self), work)

    def _forget(self, dead: Codes, alive: Codes) -> None:
        self.version += 1
        self._codes.give(dead)
        self._codes.settle()
        gone = set(dead.tolist()) if self._others or self._literals else set()
        self._others = {digest: place for digest, place in self._others.items() if place not in gone}
        self._literals = {text: code for text, code in self._literals.items() if code - self._first not in gone}
        hashed = self._with_own_hash(alive)
        self._hashed.fill([self._hashes[hashed]], hashed)
        self._runs.forget(dead)
        self._slots[dead] = -1
        slots = self._slots[alive]
        if 2 * int(self._arena.strings(slots).length.sum()) < self._arena.used:
            old, self._arena = self._arena, Arena()
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
        """The strings by code; later snapshots share what has not changed."""
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
        """Take over the strings of a snapshot with their codes; codes that callers of `code` keep must agree."""
        saved = tree if isinstance(tree, Mapping) else _of_first_version(tree)
        self.version += 1
        literals = self._literals
        self._first, self._literals = saved["first"], {}
        self._clear(FreeCodes(saved["size"], saved["free"], saved["left"]))
        self._forget_at = saved["forget_at"]
        self._runs = StringRuns(saved["runs"])
        self._adopt(*self._runs.read(saved["size"], self._codes.free))
        for text, code in literals.items():
            self._check_literal(text, code)

    def _adopt(self, places: Codes, array: pa.Array) -> None:
        """Take strings with their places, into an empty pool."""
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

    def _check_literal(self, text: str, code: int) -> None:
        """Somebody keeps the code of this text, so it must be the same here."""
        place, size = code - self._first, self._codes.size
        held = self._at(np.array([place]))[0].as_py() if 0 <= place < size and self._slots[place] >= 0 else "nothing"
        if self.code(text) != code:
            raise SnapshotError(
                f"string {place} of the snapshot is {held!r}, but here it is {text!r} already",
                hint="restore into a pipeline that has just been built from the same plan, with a pool of its own",
            )

    # -- codes of new strings

    def _encode(self, array: pa.Array) -> Codes:
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            array = array.cast(pa.large_string())
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
