"""Which strings the state still names: all integers that it holds are read, and those that are codes are marked.

Nobody has to say which of its integers are codes: whatever looks like one keeps its string. So a pool has at most one
string for each integer that the state holds, and its size is proportional to that of the state, whatever has passed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from thalweg.core.lanes import Flags
from thalweg.core.strings import StringPool
from thalweg.kernel.state.snapshot import LOGS

_OURS = "thalweg"
# Plans name strings, not codes; and a pool's own tables would keep all that it has.
_WITHOUT_CODES = ("thalweg.algebra", "thalweg.core.schema", "thalweg.core.strings", "thalweg.core.value_pool")
_WORK_PER_OBJECT = 16  # looking at an object costs as much as reading so many integers of an array


def forget_strings(pool: StringPool, *holders: Any) -> None:
    """If it is time to, forget the strings that none of the holders names, in all that can be reached from them.

    Call it between two batches: nobody else may hold codes then, nor use those of an output that was returned before.
    """
    if pool.is_due:
        first, size = pool.bounds
        marks = np.zeros(size, dtype=np.bool_)
        pool.keep(marks, _Marking(first, marks).work_for(holders))


class _Marking:
    """Sets the marks of codes that are named."""

    def __init__(self, first: int, marks: Flags) -> None:
        self._first, self._marks = first, marks
        self._size = np.uint64(len(marks))

    def work_for(self, holders: Any) -> int:
        """Read everything that can be reached; the cost in integers read."""
        work, seen, waiting = 0, set[int](), [holders]
        while waiting:
            thing = waiting.pop()
            work += _WORK_PER_OBJECT
            if isinstance(thing, int | np.integer):
                if 0 <= int(thing) - self._first < len(self._marks):
                    self._marks[int(thing) - self._first] = True
            elif id(thing) not in seen:
                seen.add(id(thing))
                if isinstance(thing, np.ndarray):
                    work += self._read(thing)
                else:
                    waiting += _parts(thing)
        return work

    def _read(self, array: np.ndarray[Any, Any]) -> int:
        if array.dtype != np.int64:
            return 0
        places = array.reshape(-1) - self._first
        self._marks[places[places.view(np.uint64) < self._size]] = True
        return array.size


def _parts(thing: Any) -> Iterator[Any]:
    """What an object holds: containers, functions with what they enclose, and objects of Thalweg."""
    match thing:
        case None | str() | float() | bytes() | type():
            return
        case dict():
            yield from thing
            yield from thing.values()
        case list() | tuple() | set() | frozenset() | deque():
            yield from thing
        case MethodType():
            yield thing.__self__
        case FunctionType():
            yield from (cell.cell_contents for cell in thing.__closure__ or ())
        case _:
            module = type(thing).__module__
            if module.startswith(_OURS) and not module.startswith(_WITHOUT_CODES) and hasattr(thing, "__dict__"):
                yield from (part for name, part in vars(thing).items() if name != LOGS)
