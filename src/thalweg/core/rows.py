"""Rows, dated tuples and bags, in the reference evaluator, the scenarios and the local engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from thalweg.core.time import FOREVER, Instant

Value = bool | int | float | str | None
Row = tuple[Value, ...]
Bag = Counter[Row]


class Dated(NamedTuple):
    """A tuple with its dates: generated at `ts`, and gone by `exp` through the passing of time alone.

    `exp` is FOREVER where time alone never ends the tuple (landmarks, count windows, aggregates).
    """

    row: Row
    ts: Instant
    exp: Instant = FOREVER


class Arrival(NamedTuple):
    """A stream tuple: its time, its number in order of arrival (ROWS windows break ties by it), its values."""

    ts: Instant
    seq: int
    row: Row


class Change(NamedTuple):
    """One signed result tuple: at instant `t` the answer gains (`sign` +1) or loses (-1) `row`."""

    t: Instant
    sign: int
    row: Row


def value_key(value: Value) -> tuple[bool, bool | int | float | str]:
    """Sorts values of one type with NULL last."""
    return (value is None, 0 if value is None else value)


def row_key(row: Row) -> tuple[tuple[bool, bool | int | float | str], ...]:
    """Sorts rows column by column with NULLs last."""
    return tuple(map(value_key, row))


def sorted_rows(bag: Bag | Iterable[Row]) -> list[Row]:
    """The rows of a bag, duplicates included, in a fixed order."""
    rows = bag.elements() if isinstance(bag, Counter) else bag
    return sorted(rows, key=row_key)


def bag_difference(before: Bag, after: Bag, t: Instant) -> list[Change]:
    """The signed tuples that turn `before` into `after` at `t`; losses come before gains."""
    gone = [Change(t, -1, row) for row in sorted_rows(before - after)]
    new = [Change(t, +1, row) for row in sorted_rows(after - before)]
    return gone + new
