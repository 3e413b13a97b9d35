"""A vectorised hash table: dense codes for keys; the code of a released key can be given to another key.

Open addressing with linear probing. All rows probe their first slots at once; rows that found another key probe the
next slot, and so on. There are as many rounds as the longest probe sequence has slots, a dozen or so, and later rounds
have few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thalweg.core.forgetting import FreeCodes

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_EMPTY, _REMOVED = -1, -2  # codes of slots without a key; a probe continues past a removed one
_OVERFLOW_SLOTS = 256  # behind the last slot of a hash value, so that probes need not wrap around
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))


class HashTable:
    """Codes 0, 1, 2 ... for keys of one or more int64 lanes."""

    def __init__(self, lanes: int, codes: FreeCodes | None = None) -> None:
        """`codes` says which codes are free; others may take codes from it too."""
        self.codes = FreeCodes() if codes is None else codes
        self.new: list[tuple[Ints, list[Ints]]] = []  # codes that were given out since the caller emptied it, and keys
        self._used = 0  # slots that are not empty
        self._bits = 6
        self._keys: list[Ints] = [np.empty(0, dtype=np.int64) for _ in range(lanes)]  # by slot
        self._codes = np.empty(0, dtype=np.int64)  # by slot
        self._build(self._keys, self._codes)

    @property
    def size(self) -> int:
        """Every code is below it."""
        return self.codes.size

    @property
    def nbytes(self) -> int:
        """The memory of the table."""
        return self._codes.nbytes * (1 + len(self._keys))

    def encode(self, lanes: Sequence[Ints]) -> Ints:
        """The codes of the keys; new keys get new codes."""
        self._reserve(len(lanes[0]))
        slots = self._first_slots(lanes)
        codes = self._codes[slots]
        rest = np.flatnonzero(~self._holds(slots, codes, lanes))
        if len(rest):
            codes[rest] = self._probe([lane[rest] for lane in lanes], slots[rest])
        return codes

    def _probe(self, keys: Sequence[Ints], slots: Ints) -> Ints:
        """The codes of keys that are not in their first slots: probe slot after slot, and claim empty ones."""
        codes = np.empty(len(slots), dtype=np.int64)
        rest = np.arange(len(slots))
        while len(rest):
            self._claim(keys, slots)
            found = self._codes[slots]
            same = self._holds(slots, found, keys)
            codes[rest[same]] = found[same]
            onwards = np.flatnonzero(~same)
            keys, rest, slots = [key[onwards] for key in keys], rest[onwards], slots[onwards] + 1
            if len(slots) and int(slots.max()) == len(self._codes):  # beyond the end
                self._bits += 1
                self._rebuild()
                slots = self._first_slots(keys)
        return codes

    def _holds(self, slots: Ints, codes: Ints, keys: Sequence[Ints]) -> Flags:
        """Where slots, which have these codes, hold these keys."""
        same = codes >= 0
        for kept, key in zip(self._keys, keys, strict=True):
            same &= kept[slots] == key
        return same

    def fill(self, lanes: Sequence[Ints], codes: Ints) -> None:
        """Forget all keys, then take keys that have these codes already."""
        self._bits = max(6, (3 * len(codes)).bit_length())
        self._build(lanes, codes)

    def release(self, lanes: Sequence[Ints], codes: Ints) -> None:
        """Forget keys, given with their codes, and free the codes."""
        slots = self._first_slots(lanes)
        probing = np.arange(len(slots))
        while len(probing):
            probing = probing[self._codes[slots[probing]] != codes[probing]]
            slots[probing] += 1
        self._codes[slots] = _REMOVED
        for kept in self._keys:
            kept[slots] = 0  # a key that is no longer there must not look as if it named a string
        self.codes.give(codes)

    def _claim(self, keys: Sequence[Ints], slots: Ints) -> None:
        """Give empty slots, with new codes, to the keys that found them; the last of several keys gets the slot."""
        rows = np.flatnonzero(self._codes[slots] == _EMPTY)
        if not len(rows):
            return
        self._codes[slots[rows]] = rows
        winners = rows[self._codes[slots[rows]] == rows]
        places = slots[winners]
        claimed = [key[winners] for key in keys]
        for kept, key in zip(self._keys, claimed, strict=True):
            kept[places] = key
        codes = self.codes.take(len(winners))
        self._codes[places] = codes
        self._used += len(winners)
        self.new.append((codes, claimed))

    def _reserve(self, count: int) -> None:
        """Make room for more keys, with at most half of the slots in use; a rebuild drops removed slots."""
        if 2 * (self._used + count) > 1 << self._bits:
            alive = int(np.count_nonzero(self._codes >= 0))
            self._bits = max(6, (3 * (alive + count)).bit_length())
            self._rebuild()

    def _rebuild(self) -> None:
        alive = np.flatnonzero(self._codes >= 0)
        self._build([kept[alive] for kept in self._keys], self._codes[alive])

    def _build(self, keys: Sequence[Ints], codes: Ints) -> None:
        """Fill new slots with keys that differ: in order of their hashes, each in its own slot or the next free one."""
        wanted = self._first_slots(keys)
        order = np.argsort(wanted, kind="stable")
        places = np.arange(len(order))
        slots = np.maximum.accumulate(wanted[order] - places) + places
        length = max(1 << self._bits, int(slots[-1]) + 1 if len(slots) else 0) + _OVERFLOW_SLOTS
        self._keys = [np.zeros(length, dtype=np.int64) for _ in keys]
        self._codes = np.full(length, _EMPTY)
        for kept, key in zip(self._keys, keys, strict=True):
            kept[slots] = key[order]
        self._codes[slots] = codes[order]
        self._used = len(codes)

    def _first_slots(self, lanes: Sequence[Ints]) -> Ints:
        mixed: npt.NDArray[np.uint64] = lanes[0].view(np.uint64) * _MIX[0]
        for lane in lanes[1:]:
            mixed = ((mixed ^ (mixed >> np.uint64(32))) + lane.view(np.uint64)) * _MIX[1]
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX[0]
        return (mixed >> np.uint64(64 - self._bits)).astype(np.int64)
