"""Where two things differ, all the way down their attributes: what a restored operator has not remembered."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType, MethodType

import numpy as np

from thalweg.core.strings import StringPool
from thalweg.kernel.state.table import KeyTable

# What is set in every batch before it is read, and so need not be remembered; by class and attribute.
WITHIN_A_BATCH = {
    ("Progressive", "_weight"), ("Progressive", "_arguments"), ("Progressive", "_changes"), ("Extremum", "_changed"),
    ("Extremum", "_now"), ("KnownEnds", "_new"), ("SignedEnds", "_new"), ("GroupSweep", "vanished"),
    ("Negation", "_unordered"),
}  # fmt: skip


def differences(some: object, other: object) -> Iterator[str]:
    """The attributes, as paths, that are not alike."""
    yield from _differences(some, other, "", set())


def _differences(some: object, other: object, path: str, compared: set[tuple[int, int]]) -> Iterator[str]:
    pair = id(some), id(other)
    if some is other or pair in compared:  # a part of the plan, or reached on another path
        return
    if hasattr(some, "__dict__"):  # it lives as long as its owner, so that no other object gets its id meanwhile
        compared.add(pair)
    some, other = _meaning(some), _meaning(other)
    if type(some) is not type(other):
        yield f"{path}: {type(some).__name__} is not {type(other).__name__}"
    elif isinstance(some, FunctionType | MethodType):
        return  # made from the plan
    elif isinstance(some, np.ndarray) and isinstance(other, np.ndarray):
        if some.dtype != other.dtype or some.shape != other.shape or some.tobytes() != other.tobytes():
            yield f"{path}: {some} is not {other}"
    elif isinstance(some, list | tuple) and isinstance(other, list | tuple):
        if len(some) != len(other):
            yield f"{path}: {len(some)} are not {len(other)}"
        for place, (a, b) in enumerate(zip(some, other, strict=False)):
            yield from _differences(a, b, f"{path}[{place}]", compared)
    elif (mine := _parts(some)) is not None and (theirs := _parts(other)) is not None:
        for name in sorted(mine.keys() | theirs.keys(), key=str):
            yield from _differences(mine.get(name), theirs.get(name), f"{path}.{name}", compared)
    elif some != other:
        yield f"{path}: {some!r} is not {other!r}"


def _meaning(thing: object) -> object:
    """Codes are looked up anew after a restore: what has been laid out otherwise counts as what it means."""
    match thing:
        case KeyTable():
            return thing.size, thing.decode(np.arange(thing.size)), thing.free, thing._narrow is None
        case np.generic():
            return thing.item()
        case deque():
            return list(thing)
        case StringPool():
            return thing.bounds, thing.codes(), thing.decode(thing.codes()).to_pylist()
    return thing


def _parts(thing: object) -> dict[object, object] | None:
    if isinstance(thing, dict):
        return thing
    if is_dataclass(thing) and getattr(type(thing), "__dataclass_params__").frozen:  # noqa: B009 - unknown to mypy
        return {f.name: getattr(thing, f.name) for f in fields(thing)}  # without what it has worked out meanwhile
    if not hasattr(thing, "__dict__") or not type(thing).__module__.startswith("thalweg"):
        return None
    kind = type(thing).__name__
    return {
        name: value for name, value in vars(thing).items() if (kind, name) not in WITHIN_A_BATCH and name != "<logs>"
    }
