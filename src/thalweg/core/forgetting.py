"""When codes that nothing names any more are looked for, and what is free to be given out again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]

# Reading a stored integer costs a small part of what a new code costs.
_INTEGERS_PER_CODE = 64


@dataclass
class Forgetting:
    """Sizes at which codes are looked for that nothing names. No answer depends on them.

    `every_batch` is for tests: codes are looked for between any two batches, so that a code that was freed too early
    shows in an answer, as another key or string, or as an error.
    """

    least: int = 4096  # new codes since the last search: fewer are not worth one
    every_batch: bool = False

    def next_at(self, kept: int, work: int) -> int:
        """How many codes there must be before the next search, after one that kept some and read `work` integers.

        A search costs what it reads. So its cost for each new code is bounded, and there are never more codes than a
        constant times those that were named, plus a small share of the integers that are stored.
        """
        return kept + max(self.least, kept, work // _INTEGERS_PER_CODE)


FORGETTING = Forgetting()


class FreeCodes:
    """Codes 0, 1, 2 ... `size` - 1, of which some are free; a free code is given out before a new one."""

    def __init__(self, size: int = 0, free: Codes | None = None, left: int | None = None) -> None:
        """The codes below `size`, of which the first `left` of `free` (all by default) are free."""
        self.size = size  # every code is below it
        self._stack: Codes = np.empty(0, dtype=np.int64) if free is None else free
        self._is_shared = True  # with a snapshot, which must not change
        self._count = len(self._stack) if left is None else left

    def __len__(self) -> int:
        return self._count

    @property
    def used(self) -> int:
        """The number of codes that are not free."""
        return self.size - self._count

    @property
    def free(self) -> Codes:
        """The free codes; the last of them is given out first."""
        return self._stack[: self._count]

    def take(self, count: int) -> Codes:
        """Give out some codes."""
        again = self._stack[max(0, self._count - count) : self._count]
        self._count -= len(again)
        fresh = np.arange(self.size, self.size + count - len(again))
        self.size += len(fresh)
        return np.concatenate([again[::-1], fresh])

    def give(self, codes: Codes) -> None:
        """Free some codes, which must differ."""
        needed = self._count + len(codes)
        if self._is_shared or needed > len(self._stack):
            grown = np.empty(max(needed, 2 * self._count), dtype=np.int64)
            grown[: self._count] = self.free
            self._stack, self._is_shared = grown, False
        self._stack[self._count : needed] = codes
        self._count = needed

    def saved(self) -> tuple[Codes, int]:
        """An array that is not written to any more, and how many of its first codes are free."""
        self._is_shared = True
        return self._stack, self._count

    def is_free(self) -> npt.NDArray[np.bool_]:
        """By code, whether it is free."""
        flags = np.zeros(self.size, dtype=np.bool_)
        flags[self.free] = True
        return flags

    def settle(self) -> None:
        """Forget the free codes behind the last one in use, and give out the least of the others first."""
        flags = self.is_free()
        used = np.flatnonzero(~flags)
        self.size = int(used[-1]) + 1 if len(used) else 0
        self._stack, self._is_shared = np.flatnonzero(flags[: self.size])[::-1].copy(), False
        self._count = len(self._stack)
