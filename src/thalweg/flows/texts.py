"""Texts of queries for snapshots: packed into two arrays, which stay the same until a query comes or goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from thalweg.kernel.state.snapshot import Tree

_Value = TypeVar("_Value")


class Texts(Generic[_Value]):
    """Values by name, in order of addition. A value is written as text once, at the first snapshot after it came."""

    def __init__(self, write: Callable[[_Value], str]) -> None:
        self._write = write
        self._values: dict[str, _Value] = {}
        self._written: dict[str, tuple[bytes, bytes]] = {}  # by name: the name and the text
        self._tree: Tree | None = None

    def put(self, name: str, value: _Value) -> None:
        """Add a value."""
        self._values[name] = value
        self._written.pop(name, None)
        self._tree = None

    def drop(self, name: str) -> None:
        """Remove a value."""
        del self._values[name]
        self._written.pop(name, None)
        self._tree = None

    def snapshot(self) -> Tree:
        """All texts, concatenated; the same arrays as the last time if nothing has changed."""
        if self._tree is None:
            for name in self._values.keys() - self._written.keys():
                self._written[name] = name.encode(), self._write(self._values[name]).encode()
            parts = [self._written[name] for name in self._values]
            sizes = np.array([(len(name), len(text)) for name, text in parts], dtype=np.int64).reshape(-1, 2)
            together = b"".join(part for pair in parts for part in pair)
            self._tree = {"sizes": sizes, "all": np.frombuffer(together, dtype=np.uint8)}
        return self._tree

    def is_as_in(self, tree: Tree) -> bool:
        """Whether a snapshot has the same values in the same order."""
        mine = self.snapshot()
        return all(np.array_equal(mine[part], tree[part]) for part in ("sizes", "all"))

    def restore(self, tree: Tree, read: Callable[[str], _Value]) -> dict[str, _Value]:
        """Go back to a snapshot; returns the values by name, in order of addition."""
        whole, sizes = tree["all"].tobytes(), tree["sizes"].reshape(-1)
        ends = np.cumsum(sizes).tolist()
        parts = [whole[end - size : end] for size, end in zip(sizes.tolist(), ends, strict=True)]
        self._written = {name.decode(): (name, text) for name, text in zip(parts[::2], parts[1::2], strict=True)}
        self._values = {name: read(text.decode()) for name, (_, text) in self._written.items()}
        self._tree = None
        return dict(self._values)
