"""The keys by which the tuples of an edge are partitioned.

A key is a tuple of expressions over the edge's columns: tuples with equal values are in the same group. The empty key
puts all tuples into one group. None promises nothing. BROADCAST puts a copy of every tuple into every group.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from thalweg.algebra.expressions import Column, map_columns, shift
from thalweg.kernel.operator import Key
from thalweg.kernel.operators.project import Project
from thalweg.kernel.pipeline.pipeline import Node


class Broadcast(Enum):
    """Not partitioned, but copied."""

    BROADCAST = "every group"


BROADCAST: Final = Broadcast.BROADCAST

Placement = Key | Broadcast | None


def keys_of(node: Node) -> tuple[Key, ...]:
    """The keys of an operator that has some."""
    assert node.operator is not None and node.operator.keys is not None
    return node.operator.keys


def _items(node: Node) -> Key | None:
    """The expressions of a projection; None for other operators."""
    return node.operator.items if isinstance(node.operator, Project) else None


def below(key: Key | None, node: Node) -> Key | None:
    """The key of a row-wise operator's input that gives its output `key`."""
    items = _items(node)
    if key is None or items is None:
        return key
    return tuple(map_columns(part, lambda column: items[column.index]) for part in key)


def above(key: Key, node: Node) -> Key | None:
    """The key of a row-wise operator's output, given that of its input; None if the projection has lost it."""
    items = _items(node)
    if items is None:
        return key
    places = {item: Column(i, item.type) for i, item in reversed(list(enumerate(items)))}
    found = tuple(places.get(part) for part in key)
    return tuple(part for part in found if part is not None) if None not in found else None


def outputs(node: Node, chosen: Sequence[int], widths: Sequence[int]) -> list[Key]:
    """The keys of an operator's output if its inputs are partitioned by the `chosen` parts of its own keys.

    Every operator with keys has its first input's columns in front, or (GROUP BY) the keys themselves; a join has those
    of its other inputs behind them, unless NULLs may be in their place.
    """
    sides = [tuple(side[i] for i in chosen) for side in keys_of(node)]
    found = [sides[0]]
    assert node.operator is not None
    if len(sides) > 1 and len(node.schema) == sum(widths) and not node.operator.pads_with_nulls:
        for i, side in enumerate(sides[1:], start=1):
            found.append(tuple(shift(part, sum(widths[:i])) for part in side))
    return found


def parts_for(node: Node, key: Key | None, widths: Sequence[int]) -> tuple[int, ...] | None:
    """The parts of an operator's keys to partition its inputs by so that its output has `key`, or None."""
    if not key:
        return None
    every = range(len(keys_of(node)[0]))
    for side in outputs(node, every, widths):
        if all(part in side for part in key):
            return tuple(side.index(part) for part in key)
    return None
