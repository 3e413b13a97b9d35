"""Upgrades of saved state: functions from the fields of one version of a kind to those of the next version.

    @upgrade("timeline/1", "timeline/2")
    def _with_marks(old: Fields) -> Fields:
        return old | {"_marks": []}

A checkpoint's state passes through here when it is read, so that a class only ever sees its own version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from thalweg.kernel.state.snapshot import KIND, Tree

Fields = dict[str, Tree]
Step = Callable[[Fields], Fields]

_Step = TypeVar("_Step", bound=Step)
_steps: dict[str, tuple[str, Step]] = {}


def upgrade(old: str, new: str, renamed: bool = False) -> Callable[[_Step], _Step]:
    """Marks the function that turns the fields of a kind into those of its next version.

    `renamed`: the class is no more, and another one has taken its place.
    """
    if old in _steps or (not renamed and old.rpartition("/")[0] != new.rpartition("/")[0]):
        raise TypeError(f"{old} cannot become {new}: it becomes something else, or has another name")

    def mark(step: _Step) -> _Step:
        _steps[old] = new, step
        return step

    return mark


def is_upgraded(kind: str) -> bool:
    """Whether a kind is of an older version, which is read as another."""
    return kind in _steps


def upgraded(fields: Fields) -> Fields:
    """An object's part of a snapshot in the newest version of its kind; anything else as it is."""
    while (step := _steps.get(fields.get(KIND, ""))) is not None:
        kind, change = step
        fields = change({name: part for name, part in fields.items() if name != KIND}) | {KIND: kind}
    return fields
