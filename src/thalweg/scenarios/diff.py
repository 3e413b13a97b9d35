"""Text tables of differences: `-` marks rows that are missing, `+` rows that were not expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from thalweg.algebra.catalog import Stream
from thalweg.core.rows import Bag, Change, Row, row_key
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.scenarios.events import Arrive
from thalweg.scenarios.values import show_time, show_value

_Line = tuple[str, Sequence[str]]


def answer_diff(schema: Schema, expected: Bag, got: Bag) -> str:
    """The two bags, row by row."""
    lines: list[_Line] = [("", schema.names)]
    for row in sorted(expected | got, key=row_key):
        lines += _signed(show_row(schema, row), expected[row], got[row])
    return table(lines)


def changes_diff(schema: Schema, clock: Clock, expected: Counter[Change], got: Counter[Change]) -> str:
    """Two lists of signed rows, instant by instant."""
    lines: list[_Line] = [("", ["sign", "t", *schema.names])]
    for change in sorted(expected | got, key=lambda c: (c.t, c.sign, row_key(c.row))):
        cells = ["+" if change.sign > 0 else "-", show_time(change.t, clock), *show_row(schema, change.row)]
        lines += _signed(cells, expected[change], got[change])
    return table(lines)


def late_diff(stream: Stream, clock: Clock, expected: Counter[Arrive], got: Counter[Arrive]) -> str:
    """Two bags of late rows."""
    lines: list[_Line] = [("", ["t", *stream.schema.names])]
    for late in sorted(expected | got, key=lambda a: (a.t, row_key(a.row))):
        cells = [show_time(late.t, clock), *show_row(stream.schema, late.row)]
        lines += _signed(cells, expected[late], got[late])
    return table(lines)


def show_row(schema: Schema, row: Row) -> list[str]:
    """A row's cells."""
    return [show_value(value, field.type) for value, field in zip(row, schema, strict=True)]


def table(lines: Sequence[_Line]) -> str:
    """The lines with aligned cells; each line starts with its sign."""
    widths = [max(map(len, column)) for column in zip(*(cells for _, cells in lines), strict=True)]
    shown = (f"  {margin:1} {' | '.join(map(str.ljust, cells, widths))}".rstrip() for margin, cells in lines)
    return "\n".join(shown)


def _signed(cells: Sequence[str], expected: int, got: int) -> Iterable[_Line]:
    both = min(expected, got)
    return [("", cells)] * both + [("-", cells)] * (expected - both) + [("+", cells)] * (got - both)
