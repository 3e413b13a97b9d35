"""What queries are, for snapshots: as few arrays as possible, and the same ones until something changes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg.kernel.state.snapshot import Tree

_way: Callable[[Any], bytes] = pickle.dumps


def pickle_with(dumps: Callable[[Any], bytes]) -> None:
    """From now on this process pickles so: Spark's way also takes users' functions that no module has."""
    global _way
    _way = dumps


def pickled(value: Any) -> bytes:
    """A value as bytes that any process can read."""
    return _way(value)


class Pickles:
    """Values by name, in the order in which they came, each pickled once."""

    def __init__(self) -> None:
        self._each: dict[str, bytes] = {}
        self._tree: Tree | None = None

    def put(self, name: str, value: Any) -> None:
        """One more."""
        self._each[name] = pickled((name, value))
        self._tree = None

    def drop(self, name: str) -> None:
        """One less."""
        del self._each[name]
        self._tree = None

    def snapshot(self) -> Tree:
        """All of them, one behind the other; the same arrays as the last time if nothing has changed."""
        if self._tree is None:
            sizes = np.array([len(each) for each in self._each.values()], dtype=np.int64)
            self._tree = {"sizes": sizes, "all": np.frombuffer(b"".join(self._each.values()), dtype=np.uint8)}
        return self._tree

    def is_as_in(self, tree: Tree) -> bool:
        """Whether a snapshot has the same values in the same order."""
        mine = self.snapshot()
        return all(np.array_equal(mine[part], tree[part]) for part in ("sizes", "all"))

    def restore(self, tree: Tree) -> dict[str, Any]:
        """Go back to a snapshot; the values by name, in their order."""
        ends, whole = np.cumsum(tree["sizes"]).tolist(), tree["all"].tobytes()
        parts = [whole[end - size : end] for size, end in zip(tree["sizes"].tolist(), ends, strict=True)]
        values: dict[str, Any] = dict(pickle.loads(part) for part in parts)
        self._each = dict(zip(values, parts, strict=True))
        self._tree = None
        return values
