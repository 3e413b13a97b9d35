"""Plans as texts that are equal exactly where the plans are, in every process."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import sha256

from thalweg.algebra.plan.base import Plan


def digest(value: object) -> str:
    """The name for programs of a plan or a part: all that takes part in its equality, nothing that only people read."""
    return sha256(_spelt(value).encode()).hexdigest()


def drawn(plan: Plan, depth: int = 1) -> str:
    """The operators as people read them, one below the other."""
    line = f"{'  ' * depth}{plan.label} {plan.detail}".rstrip()
    return "\n".join([line, *(drawn(child, depth + 1) for child in plan.children)])


_COMPARED: dict[type, tuple[str, ...] | None] = {}


def _compared(kind: type) -> tuple[str, ...] | None:
    """The fields that take part in the equality of a dataclass; None if it is none."""
    if kind not in _COMPARED:
        _COMPARED[kind] = tuple(f.name for f in fields(kind) if f.compare) if is_dataclass(kind) else None
    return _COMPARED[kind]


def _spelt(value: object) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(_spelt, value))})"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    compared = _compared(type(value))
    if compared is not None:
        return f"{type(value).__name__}({','.join([_spelt(getattr(value, name)) for name in compared])})"
    if callable(value):  # its representation would tell where it lies in memory
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return repr(value)
