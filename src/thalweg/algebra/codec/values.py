"""Values of registered classes as JSON.

    true, 12, 0.5, "text", null    themselves; a number that JSON cannot express: {"number": "inf"}
    tuples                         lists
    mappings from strings          {"map": {...}}, keys in order
    a dataclass                    {"name": {"field": ..., ...}}
    one of an enum                 {"name": its value}
    a user's function, aggregate   {"function": {...}}, {"aggregate": {...}}: names and types

Equal values have equal texts, but for fields that take no part in equality.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from thalweg.algebra.codec.functions import NO_FUNCTIONS, Functions, describe
from thalweg.algebra.codec.names import AGGREGATE, FUNCTION, MAP, NUMBER, class_of, make, name_of, one_of
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.core.errors import CheckpointError

Json = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]

_PLAIN = frozenset((type(None), bool, int, str))
_FIELDS: dict[type[Any], tuple[str, tuple[str, ...]]] = {}


def to_json(value: Any) -> Json:
    """A value as JSON; a TypeError if a class in it has no name."""
    return Writing().value(value)


def from_json(tree: Json, functions: Functions = NO_FUNCTIONS) -> Any:
    """The value that `to_json` wrote; a CheckpointError if it cannot be read."""
    return Reading(functions).value(tree)


class Writing:
    """Writes one value as JSON; `calls` collects the names of the users' functions in it."""

    def __init__(self) -> None:
        self.calls: set[str] = set()

    def value(self, value: Any) -> Json:
        """A value, or a part of one."""
        cls = type(value)
        if cls in _PLAIN:
            return value
        if cls is tuple or cls is list:
            return [self.value(item) for item in value]
        known = _FIELDS.get(cls)
        if known is not None:
            name, parts = known
            return {name: {part: self.value(getattr(value, part)) for part in parts}}
        return self._other(value)

    def _other(self, value: Any) -> Json:
        match value:
            case float():
                return value if math.isfinite(value) else {NUMBER: repr(value)}
            case Enum():
                return {name_of(type(value)): value.value}
            case UserFunction():
                self.calls.add(str(value))
                return {FUNCTION: describe(value)}
            case UserAggregate():
                self.calls.add(value.name)
                return {AGGREGATE: describe(value)}
            case Mapping():
                return {MAP: {key: self.value(value[key]) for key in sorted(value)}}
        name = name_of(type(value))
        _FIELDS[type(value)] = name, tuple(field.name for field in fields(value))
        return self.value(value)


class Reading:
    """Reads one value from JSON, with the registered functions; `calls` is true if the value needs any."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.calls = False

    def value(self, tree: Json) -> Any:
        """A value, or a part of one."""
        cls = type(tree)
        if cls is list:
            return tuple(self.value(item) for item in tree)
        if cls is not dict:
            return tree
        if len(tree) != 1:
            raise CheckpointError(
                f"expected an object with one name, got {', '.join(tree) or 'nothing'}",
                hint="restore the checkpoint from a backup",
            )
        ((name, given),) = tree.items()
        match name:
            case "map":
                return {key: self.value(item) for key, item in given.items()}
            case "number":
                return float(given)
            case "function":
                self.calls = True
                return self._functions.function(given)
            case "aggregate":
                self.calls = True
                return self._functions.aggregate(given)
        cls = class_of(name)
        if type(given) is not dict:
            return one_of(cls, given)
        return make(cls, {part: self.value(item) for part, item in given.items()})
