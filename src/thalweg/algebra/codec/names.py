"""The names of classes in JSON. A name never changes, even if the class is moved or renamed.

A class may gain a field that has a default: texts without the field are read with the default. A class whose fields
change in any other way, or whose meaning changes, gets another name.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

from thalweg.core.errors import CheckpointError

# Values that are neither dataclasses nor enums.
MAP, NUMBER, FUNCTION, AGGREGATE = "map", "number", "function", "aggregate"

_CLASSES: dict[str, type[Any]] = {}
_NAMES: dict[type[Any], str] = {}


def register(name: str, cls: type[Any]) -> None:
    """Give a frozen dataclass or an enum the name under which JSON has its values."""
    taken = _CLASSES.get(name)
    if name in (MAP, NUMBER, FUNCTION, AGGREGATE) or (taken is not None and taken.__qualname__ != cls.__qualname__):
        raise TypeError(f"{cls.__name__} cannot be called {name!r} in JSON: the name is taken")
    _CLASSES[name], _NAMES[cls] = cls, name


def names() -> dict[str, type[Any]]:
    """All registered classes that have been imported, by name."""
    return dict(_CLASSES)


def name_of(cls: type[Any]) -> str:
    """The name of a class; a TypeError if it has none."""
    if cls not in _NAMES:
        raise TypeError(f"{cls.__name__} has no name in JSON: register it")
    return _NAMES[cls]


def class_of(name: str) -> type[Any]:
    """The class with a name; a CheckpointError if there is none."""
    if name not in _CLASSES:
        raise CheckpointError(
            f"the checkpoint has a part called {name!r}, which this version of Thalweg does not know",
            hint="go on with the version of Thalweg that wrote it, or start anew with another checkpoint",
        )
    return _CLASSES[name]


def make(cls: type[Any], given: dict[str, Any]) -> Any:
    """An object from its fields; a CheckpointError if a field is missing or unknown."""
    if issubclass(cls, Enum):
        raise _wrong(cls, "is one of a few values, not made of fields")
    known = {field.name: field for field in fields(cls)}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise _wrong(cls, f"has {', '.join(unknown)}, which this version of Thalweg does not know")
    lacks = [n for n, f in known.items() if n not in given and f.default is MISSING and f.default_factory is MISSING]
    if lacks:
        raise _wrong(cls, f"lacks {', '.join(lacks)}")
    return cls(**given)


def one_of(cls: type[Any], value: Any) -> Any:
    """The member of an enum that has a value; a CheckpointError if there is none."""
    try:
        if issubclass(cls, Enum):
            return cls(value)
    except ValueError:
        pass
    raise _wrong(cls, f"cannot be {value!r}")


def _wrong(cls: type[Any], what: str) -> CheckpointError:
    return CheckpointError(
        f"a part called {_NAMES[cls]!r} of the checkpoint {what}",
        hint="go on with the version of Thalweg that wrote it, or restore the checkpoint from a backup",
    )
