"""Snapshots: an operator's state as a tree of plain values and arrays, saved and restored.

A stateful class names its state in KEPT; everything else follows from the plan. Immutable runs (tuples and frozen
dataclasses of arrays) are shared between the live state and its snapshots, so a writer recognises by identity the runs
that it has written before; an `ArrayLog` turns each array that changes in place into such runs.

Every class whose state is saved has a *kind*: an id of its own such as "timeline/1", a name and a version, given where
the class is defined. Snapshots name kinds, never modules, so a file can move without breaking a checkpoint. A class
whose fields change gets a new version; `docs/checkpoint-format.md` lists all kinds and their fields.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.errors import SnapshotError
from thalweg.kernel.state.array_log import ArrayLog

Tree = Any  # None | bool | int | float | str | array | list[Tree] | tuple[Tree, ...] | dict[str, Tree]

PLAIN = frozenset((type(None), bool, int, float, str))  # most of a tree, so these are checked first

_Class = TypeVar("_Class", bound=type)

Logs = dict[str, ArrayLog]  # by path below a stateful object

KIND, _ARRAY, LOGS = "<kind>", "<array>", "<logs>"  # keys that cannot be the name of an attribute
_CLASSES: dict[str, type] = {}  # by kind
_KINDS: dict[type, str] = {}


def register(kind: str, cls: type) -> None:
    """Give a class the id under which snapshots name it."""
    name, _, version = kind.rpartition("/")
    if not name or not version.isdigit():
        raise TypeError(f'the kind of {cls.__name__} is {kind!r}; it must be a name and a version, like "timeline/1"')
    taken = _CLASSES.get(kind)
    if taken is not None and taken.__qualname__ != cls.__qualname__:
        raise TypeError(f"{cls.__name__} cannot have the kind {kind!r}: {taken.__qualname__} has it")
    _CLASSES[kind], _KINDS[cls] = cls, kind


def kinds() -> dict[str, type]:
    """By kind all classes that snapshots can hold, as far as their modules have been imported."""
    return dict(_CLASSES)


def fields_of(cls: type[Any]) -> tuple[str, ...]:
    """The names of the fields that a snapshot holds of an object of this class."""
    return (*cls.KEPT, *cls.ADDED) if issubclass(cls, Stateful) else tuple(f.name for f in fields(cls))


def kind_of(cls: type) -> str:
    """The id under which snapshots name a class."""
    if cls not in _KINDS:
        raise TypeError(f'{cls.__name__} has no kind and so cannot be saved: class {cls.__name__}(..., kind="name/1")')
    return _KINDS[cls]


def _class_of(kind: str) -> type:
    if kind in _CLASSES:
        return _CLASSES[kind]
    name = kind.rpartition("/")[0]
    known = [other for other in _CLASSES if other.rpartition("/")[0] == name]
    which = f"of kind {kind}, and this version of Thalweg "
    raise SnapshotError(
        f"the snapshot holds state {which}" + (f"reads {', '.join(known)}" if known else "does not know that kind"),
        hint="go on with the version of Thalweg that wrote it, or start the query anew",
    )


class Stateful:
    """An object whose state lies in the attributes that KEPT names.

    A class whose attributes hold more than its state, or hold it wastefully, extends `snapshot` and `restore`, and
    names in ADDED the fields that it adds to snapshots. An object that does not exist before a restore is created
    without its constructor, so `restore` must set all its attributes. A class without a `kind` is a base class: it
    cannot be saved.
    """

    KEPT: ClassVar[tuple[str, ...]] = ()
    ADDED: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is not None:
            register(kind, cls)

    def snapshot(self) -> Tree:
        """The current state as a tree. Later changes of the object do not change the tree."""
        return {KIND: kind_of(type(self))} | {name: self._save_part(name, getattr(self, name)) for name in self.KEPT}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot. The same snapshot can be restored again, also into another object."""
        if tree.get(KIND) != kind_of(type(self)):
            raise SnapshotError(
                f"expected state of kind {kind_of(type(self))}, but the snapshot has {tree.get(KIND)}",
                hint="go on with the version of Thalweg that wrote it, or start the query anew",
            )
        missing = [name for name in (*self.KEPT, *self.ADDED) if name not in tree]
        if missing:
            raise SnapshotError(
                f"the snapshot's state of kind {tree.get(KIND)} lacks {', '.join(missing)}",
                hint="the checkpoint is damaged; restore it from a backup, or start the query anew",
            )
        for name in self.KEPT:
            setattr(self, name, self._load_part(name, tree[name]))

    def _save_part(self, name: str, value: Any) -> Tree:
        """A value as part of a snapshot; it shares arrays with the previous snapshot where they have not changed."""
        return _save(value, self, name)

    def _load_part(self, name: str, tree: Tree) -> Any:
        """The value that `_save_part` saved under a name."""
        logs: Logs = vars(self).get(LOGS, {})
        for path in [path for path in logs if path == name or path.startswith(f"{name}.")]:
            del logs[path]
        return _load(getattr(self, name, None), tree, self, name)

    def _logs(self) -> Logs:
        """The logs of the object's arrays, by path."""
        logs: Logs = vars(self).setdefault(LOGS, {})
        return logs


def immutable(kind: str) -> Callable[[_Class], _Class]:
    """Give a frozen dataclass a kind. Its arrays must never be written to, because snapshots share them."""

    def mark(cls: _Class) -> _Class:
        register(kind, cls)
        return cls

    return mark


register("batch/1", Batch)
register("dates/1", Dates)


def saved_array(array: np.ndarray[Any, Any]) -> Tree:
    """An array that is changed in place, as a snapshot holds it."""
    return {_ARRAY: ArrayLog().save(array)}


def loaded_array(tree: Tree) -> np.ndarray[Any, Any]:
    """The array that `saved_array` saved."""
    return ArrayLog.read(tree[_ARRAY])[1]


def nbytes(value: Any) -> int:
    """The size of all arrays of a value."""
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


def _save(value: Any, owner: Stateful | None, path: str) -> Tree:
    """A value as a tree. Without an owner it is part of an immutable run, whose arrays need no log."""
    if type(value) in PLAIN:
        return value
    match value:
        case np.ndarray():
            return value if owner is None else {_ARRAY: owner._logs().setdefault(path, ArrayLog()).save(value)}
        case Stateful():
            return value.snapshot()
        case list() | deque():
            return [_save(item, owner, f"{path}.{place}") for place, item in enumerate(value)]
        case tuple() if type(value) is tuple:
            return tuple(_save(item, None, "") for item in value)
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _save(item, owner, f"{path}.{key}") for key, item in value.items()}
        case _ if is_dataclass(value) and type(value) in _KINDS:
            kept = {f.name: _save(getattr(value, f.name), None, "") for f in fields(value)}
            return {KIND: _KINDS[type(value)]} | kept
        case np.generic():
            return value.item()
        case int() | float() | str():
            return value
    raise TypeError(f"{type(value).__name__} cannot be part of a snapshot: its class has no kind")


def _load(now: Any, tree: Tree, owner: Stateful | None, path: str) -> Any:
    match tree:
        case list():
            places = now if isinstance(now, list) and len(now) == len(tree) else [None] * len(tree)
            pairs = zip(places, tree, strict=True)
            return [_load(place, item, owner, f"{path}.{i}") for i, (place, item) in enumerate(pairs)]
        case tuple():
            return tuple(_load(None, item, None, "") for item in tree)
        case dict() if _ARRAY in tree:
            log, array = ArrayLog.read(tree[_ARRAY])
            if owner is not None:
                owner._logs()[path] = log
            return array
        case dict() if KIND in tree:
            return _revive(now, tree)
        case dict():
            return {key: _load(None, item, owner, f"{path}.{key}") for key, item in tree.items()}
    return tree


def _revive(now: Any, tree: Mapping[str, Tree]) -> Any:
    cls = _class_of(tree[KIND])
    if not issubclass(cls, Stateful):
        return cls(**{name: _load(None, item, None, "") for name, item in tree.items() if name != KIND})
    revived = now if type(now) is cls else cls.__new__(cls)
    revived.restore(tree)
    return revived
