"""Windows of every kind, small enough that a short history fills, slides and empties them."""

from __future__ import annotations

from hypothesis import strategies as st

from strategies.dice import Dice
from thalweg.algebra.windows import (
    Landmark,
    LogicalWindow,
    Now,
    PartitionedRows,
    Range,
    Rows,
    Unbounded,
    ValueRange,
    Window,
)
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

_WIDTHS: dict[DataType, list[int | float]] = {
    DataType.BIGINT: [1, 2, 3],
    DataType.DOUBLE: [2.0, 0.5, 3.5],
    DataType.TIMESTAMP: [1_000_000],
}


@st.composite
def logical_windows(draw: st.DrawFn) -> LogicalWindow:
    """Windows over timestamps."""
    dice = Dice(draw)
    return dice.pick([_range, _now, _landmark, _unbounded])(dice)


@st.composite
def windows(draw: st.DrawFn, schema: Schema) -> Window:
    """Any window that fits a stream of this schema."""
    return a_window(Dice(draw), schema)


def a_window(dice: Dice, schema: Schema) -> Window:
    """Any window that fits; sliding windows come most often and remain when an example shrinks."""
    match dice.number(0, 9):
        case 9:
            return _unbounded(dice)
        case 8:
            return _now(dice)
        case 7:
            return _landmark(dice)
        case 6:
            return _by_value(dice, schema)
        case 5:
            return _partitioned(dice, schema)
        case 3 | 4:
            return Rows(dice.number(1, 4), dice.pick([1, 1, 2, 3]))
        case _:
            return _range(dice)


def _range(dice: Dice) -> Range:
    """Smooth, hopping, tumbling, and with gaps between the states."""
    slide = dice.pick([1, 1, 2, 3, 5])
    return Range(dice.number(1, 8), slide, dice.pick([0, 0, 1, -3, 7]) if slide > 1 else 0)


def _now(dice: Dice) -> Now:
    return Now()


def _unbounded(dice: Dice) -> Unbounded:
    return Unbounded()


def _landmark(dice: Dice) -> Landmark:
    x = dice.number(-2, 12)
    return dice.pick([Landmark(start=x), Landmark(end=x), Landmark(x, x + 4)])


def _partitioned(dice: Dice, schema: Schema) -> PartitionedRows:
    keys = dice.several(1, 2, lambda: dice.number(0, len(schema) - 1))
    cut = _range(dice) if dice.chance(2) else None
    return PartitionedRows(tuple(dict.fromkeys(keys)), dice.number(1, 2), cut)


def _by_value(dice: Dice, schema: Schema) -> Window:
    columns = [(i, field.type) for i, field in enumerate(schema) if field.type in _WIDTHS]
    if not columns:
        return _partitioned(dice, schema)
    position, type_ = dice.pick(columns)
    return ValueRange(position, dice.pick(_WIDTHS[type_]), type_)
