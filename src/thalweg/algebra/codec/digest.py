"""Digests of plans and their parts: equal exactly where the plans are, in every process and version."""

from __future__ import annotations

from dataclasses import MISSING, fields
from enum import Enum
from hashlib import sha256
from typing import Any

from thalweg.algebra.codec.functions import describe
from thalweg.algebra.codec.names import name_of
from thalweg.algebra.expressions import UserAggregate, UserFunction


def digest(value: object) -> str:
    """The name for programs of a plan or a part: all that takes part in its equality, nothing that only people read."""
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
    """What has its default is left out, so that a class can gain a field without changing the digests there are."""
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
