"""Digests of plans and their parts: equal for equal plans only, in every process and version."""

from __future__ import annotations

from dataclasses import MISSING, fields
from enum import Enum
from hashlib import sha256
from typing import Any

from thalweg.algebra.codec.functions import describe
from thalweg.algebra.codec.names import name_of
from thalweg.algebra.expressions import UserAggregate, UserFunction


def digest(value: object) -> str:
    """A digest of the fields that take part in the equality of a plan or a part; names for people are left out."""
    return sha256(_spelt(value).encode()).hexdigest()


_PLAIN = frozenset((type(None), bool, int, float, str))
_COMPARED: dict[type[Any], tuple[str, tuple[tuple[str, Any], ...]]] = {}


def _compared(cls: type[Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The name of a dataclass, and the fields that take part in its equality, with their defaults."""
    if cls not in _COMPARED:
        parts = tuple((field.name, field.default) for field in fields(cls) if field.compare)
        _COMPARED[cls] = name_of(cls), parts
    return _COMPARED[cls]


def _spelt(value: object) -> str:
    """The text to digest. Fields with their default are left out, so that a new field changes no older digest."""
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, tuple):
        return f"({','.join(map(_spelt, value))})"
    if isinstance(value, Enum):
        return f"{name_of(type(value))}.{value.value}"
    if isinstance(value, UserFunction | UserAggregate):
        return repr(describe(value))
    name, compared = _compared(type(value))
    parts = [(part, getattr(value, part), default) for part, default in compared]
    spelt = [f"{part}={_spelt(each)}" for part, each, default in parts if default is MISSING or each != default]
    return f"{name}({','.join(spelt)})"
