"""Which arrays of a state must be written, and where the others lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import ref

import numpy as np

from thalweg.core.lanes import Lane
from thalweg.kernel.state.snapshot import PLAIN, Tree

Address = tuple[str, int]  # a file, and the place of an array in it
Known = dict[int, tuple[ref[Lane], Address]]  # arrays by their identity

_MOSTLY_GONE = 4  # a large file is given up when less than this part of it is needed
_SMALL = 1 << 16  # bytes
_MANY = 16


def still_needed(state: Tree, known: Known, sizes: Mapping[str, int]) -> Known:
    """The arrays of a state that are in files which are kept.

    A large file of which little is needed is given up, and so are all small ones once there are many: what is needed of
    them is written once more, with what is new. So files stay few and not tiny, and no larger than a few states.
    """
    there: Known = {}
    live: dict[str, int] = {}
    for array in _arrays(state):
        found = known.get(id(array))
        if found is not None and found[0]() is array and id(array) not in there:
            there[id(array)] = found
            live[found[1][0]] = live.get(found[1][0], 0) + array.nbytes
    small = {name for name in live if sizes[name] <= _SMALL}
    given_up = {name for name, size in live.items() if name not in small and _MOSTLY_GONE * size < sizes[name]}
    if len(small) > _MANY:
        given_up |= small
    return {key: found for key, found in there.items() if found[1][0] not in given_up}


class Saving:
    """One save: which arrays are new, and where all of them lie."""

    def __init__(self, file: str, known: Known) -> None:
        self.file, self.new, self.files = file, list[Lane](), set[str]()
        # What is not part of this state is not known to the next save, for its file may be gone by then.
        self.known = known

    def encoded(self, tree: Tree) -> Any:
        """The state with addresses for arrays."""
        if type(tree) in PLAIN:
            return tree
        match tree:
            case np.ndarray():
                address = self._address(tree)
                self.files.add(address[0])
                return {"@": list(address)}
            case tuple():
                return {"()": [self.encoded(item) for item in tree]}
            case list():
                return [self.encoded(item) for item in tree]
            case dict():
                return {key: self.encoded(item) for key, item in tree.items()}
        return tree

    def _address(self, array: Lane) -> Address:
        known = self.known.get(id(array))
        if known is not None:
            return known[1]
        address = (self.file, len(self.new))
        self.new.append(array)
        self.known[id(array)] = (ref(array), address)
        return address


def _arrays(tree: Tree) -> Iterator[Lane]:
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, list | tuple | dict):
        for item in tree.values() if isinstance(tree, dict) else tree:
            if type(item) not in PLAIN:
                yield from _arrays(item)
