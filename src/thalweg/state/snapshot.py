"""Snapshots: what an operator must remember, as a tree of plain values and arrays, taken and given back.

A stateful class names its state in KEPT; all else comes from the plan. Immutable runs (tuples and frozen dataclasses of
arrays) are shared between the live state and its snapshots, so whoever writes one down finds by identity what it has
written before; arrays that are changed in place are copied, both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

Tree = Any  # None | bool | int | float | str | array | list[Tree] | tuple[Tree, ...] | dict[str, Tree]

_Class = TypeVar("_Class", bound=type)

_KIND = "kind"
_KINDS: dict[str, type] = {}


class Stateful:
    """Something with state, found in the attributes that KEPT names."""

    KEPT: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _KINDS[cls.__name__] = cls

    def snapshot(self) -> Tree:
        """The state now. Nothing that happens later changes it."""
        return {_KIND: type(self).__name__} | {name: _save(getattr(self, name), False) for name in self.KEPT}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, which may be restored again and elsewhere."""
        for name in self.KEPT:
            setattr(self, name, _load(getattr(self, name, None), tree[name], False))


def immutable(cls: _Class) -> _Class:
    """Marks a frozen dataclass whose arrays are never written to: snapshots share them."""
    _KINDS[cls.__name__] = cls
    return cls


def nbytes(value: Any) -> int:
    """The size of all arrays in some state."""
    match value:
        case np.ndarray():
            return value.nbytes
        case Stateful():
            return sum(nbytes(getattr(value, name)) for name in value.KEPT)
        case list() | tuple():
            return sum(map(nbytes, value))
        case dict():
            return sum(map(nbytes, value.values()))
        case _ if is_dataclass(value):
            return sum(nbytes(getattr(value, f.name)) for f in fields(value))
    return 0


def _save(value: Any, shared: bool) -> Tree:
    match value:
        case np.ndarray():
            return value if shared else value.copy()
        case Stateful():
            return value.snapshot()
        case list():
            return [_save(item, shared) for item in value]
        case tuple():  # a run: what is in it stays as it is
            return tuple(_save(item, True) for item in value)
        case dict():
            return {key: _save(item, shared) for key, item in value.items()}
        case _ if is_dataclass(value) and type(value).__name__ in _KINDS:
            kept = {f.name: _save(getattr(value, f.name), True) for f in fields(value)}
            return {_KIND: type(value).__name__} | kept
        case None | bool() | int() | float() | str() | np.generic():
            return value
    raise TypeError(f"{type(value).__name__} cannot be part of a snapshot")


def _load(now: Any, tree: Tree, shared: bool) -> Any:
    match tree:
        case np.ndarray():
            return tree if shared else tree.copy()
        case list():
            places = now if isinstance(now, list) and len(now) == len(tree) else [None] * len(tree)
            return [_load(place, item, shared) for place, item in zip(places, tree, strict=True)]
        case tuple():
            return tuple(_load(None, item, True) for item in tree)
        case dict() if _KIND in tree:
            return _revive(now, tree)
        case dict():
            return {key: _load(None, item, shared) for key, item in tree.items()}
    return tree


def _revive(now: Any, tree: Mapping[str, Tree]) -> Any:
    kind = _KINDS[tree[_KIND]]
    if not issubclass(kind, Stateful):
        return kind(**{name: _load(None, item, True) for name, item in tree.items() if name != _KIND})
    revived = now if type(now) is kind else kind.__new__(kind)  # what is made anew keeps everything it has
    revived.restore(tree)
    return revived
