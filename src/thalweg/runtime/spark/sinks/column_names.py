"""The names of an answer's columns in a database's table: those of the query, unless the database cannot take them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from itertools import count

from thalweg.core.visible import visible

_DIGEST = 8  # letters


def table_columns(names: Sequence[str], reserved: Collection[str], longest: int) -> list[str]:
    """Names that the table can have: a name is changed only if it must be, and always in the same way.

    Case makes no difference. A name that is `reserved`, or taken by a column before, gets a number. A name of more than
    `longest` bytes is cut off, and a digest of the whole name is added. Control characters are shown as escapes.

    >>> table_columns(["a", "A", "_count", "x" * 70], ["_count"], 20)
    ['a', 'A_2', '_count_2', 'xxxxxxxxxxx_8fc6d96d']
    """
    taken = {name.casefold() for name in reserved}
    found = []
    for name in names:
        free = next(c for c in _candidates(visible(name) or "column", longest) if c.casefold() not in taken)
        taken.add(free.casefold())
        found.append(free)
    return found


def _candidates(name: str, longest: int) -> Iterator[str]:
    yield _cut(name, longest)
    for number in count(2):
        yield _cut(f"{name}_{number}", longest)


def _cut(name: str, longest: int) -> str:
    if len(name.encode()) <= longest:
        return name
    digest = blake2b(name.encode(), digest_size=_DIGEST // 2).hexdigest()
    return name.encode()[: longest - _DIGEST - 1].decode(errors="ignore") + "_" + digest
