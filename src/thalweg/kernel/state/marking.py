"""Which strings the state still names: all integers that it holds are read, and those that are codes are marked.

Nobody has to say which of its integers are codes: whatever looks like one keeps its string. So a pool has at most one
string for each integer that the state holds, and its size is proportional to that of the state, whatever has passed.

Containers are searched, functions with what they enclose, and objects of Thalweg with all their attributes. A class
with many parts that hold no codes has a method `parts_with_codes`, which gives those that may.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from thalweg.core.lanes import Flags
from thalweg.core.strings import StringPool
from thalweg.kernel.state.snapshot import LOGS

_OURS = "thalweg"
# Plans name strings, not codes; and a pool's own tables would keep all that it has.
_WITHOUT_CODES = ("thalweg.algebra", "thalweg.core.schema", "thalweg.core.strings", "thalweg.core.value_pool")
_WORK_PER_OBJECT = 64  # looking at an object costs as much as reading so many integers of an array

_Parts = Callable[[Any], Iterable[Any]]
_NUMBER, _ARRAY, _NOTHING = object(), object(), object()  # in place of a function that gives the parts
_parts_of: dict[type, Any] = {}


def forget_strings(pool: StringPool, *holders: Any) -> None:
    """If it is time to, forget the strings that none of the holders names, in all that can be reached from them.

    Call it between two batches: nobody else may hold codes then, nor use those of an output that was returned before.
    """
    if pool.is_due:
        first, size = pool.bounds
        marks = np.zeros(size, dtype=np.bool_)
        pool.keep(marks, _mark(holders, first, marks))


def _mark(holders: Any, first: int, marks: Flags) -> int:
    """Mark all codes that can be reached; the cost in integers read."""
    work, seen, waiting = 0, set[int](), [holders]
    while waiting:
        thing = waiting.pop()
        kind = type(thing)
        parts = _parts_of[kind] if kind in _parts_of else _parts_of.setdefault(kind, _how(kind))
        if parts is _NOTHING:
            continue
        if parts is _NUMBER:
            if 0 <= int(thing) - first < len(marks):
                marks[int(thing) - first] = True
        elif id(thing) not in seen:
            seen.add(id(thing))
            work += _WORK_PER_OBJECT
            if parts is not _ARRAY:
                waiting += parts(thing)
            elif thing.dtype == np.int64:
                places = thing.reshape(-1) - first
                marks[places[places.view(np.uint64) < np.uint64(len(marks))]] = True
                work += thing.size
    return work


def _how(kind: type) -> Any:
    """How to get at the parts of objects of a class."""
    if issubclass(kind, int | np.integer):
        return _NUMBER
    if issubclass(kind, np.ndarray):
        return _ARRAY
    if issubclass(kind, dict):
        return lambda thing: [*thing, *thing.values()]
    if issubclass(kind, list | tuple | set | frozenset | deque):
        return list
    if issubclass(kind, MethodType):
        return lambda thing: [thing.__self__]
    if issubclass(kind, FunctionType):
        return lambda thing: [cell.cell_contents for cell in thing.__closure__ or ()]
    if hasattr(kind, "parts_with_codes"):
        return kind.parts_with_codes
    if kind.__module__.startswith(_OURS) and not kind.__module__.startswith(_WITHOUT_CODES):
        return lambda thing: [part for name, part in getattr(thing, "__dict__", {}).items() if name != LOGS]
    return _NOTHING
