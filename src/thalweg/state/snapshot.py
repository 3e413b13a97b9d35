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

from thalweg.core.batch import Batch, Dates

Tree = Any  # None | bool | int | float | str | array | list[Tree] | tuple[Tree, ...] | dict[str, Tree]

PLAIN = frozenset((type(None), bool, int, float, str))  # most of a tree: told apart first

_Class = TypeVar("_Class", bound=type)

_KIND = "<kind>"  # no attribute has this name
_KINDS: dict[str, type] = {}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class Stateful:
    """Something with state, found in the attributes that KEPT names.

    A class whose attributes hold more than its state, or hold it wastefully, extends both methods. What is not there
    before a restore is made without its constructor, so its class keeps or derives all that it has.
    """

    KEPT: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _KINDS[_name(cls)] = cls

    def snapshot(self) -> Tree:
        """The state now. Nothing that happens later changes it."""
        return {_KIND: _name(type(self))} | {name: _save(getattr(self, name), False) for name in self.KEPT}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, which may be restored again and elsewhere."""
        for name in self.KEPT:
            setattr(self, name, _load(getattr(self, name, None), tree[name], False))


def immutable(cls: _Class) -> _Class:
    """Marks a frozen dataclass whose arrays are never written to: snapshots share them."""
    _KINDS[_name(cls)] = cls
    return cls


for _told in (Batch, Dates):
    immutable(_told)


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
    if type(value) in PLAIN:
        return value
    match value:
        case np.ndarray():
            return value if shared else value.copy()
        case Stateful():
            return value.snapshot()
        case list():
            return [_save(item, shared) for item in value]
        case tuple() if type(value) is tuple:  # a run: what is in it stays as it is
            return tuple(_save(item, True) for item in value)
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _save(item, shared) for key, item in value.items()}
        case _ if is_dataclass(value) and _name(type(value)) in _KINDS:
            kept = {f.name: _save(getattr(value, f.name), True) for f in fields(value)}
            return {_KIND: _name(type(value))} | kept
        case np.generic():
            return value.item()
        case int() | float() | str():
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
    revived = now if type(now) is kind else kind.__new__(kind)
    revived.restore(tree)
    return revived
