"""A window drawn as a timeline: for each tuple a line from its entry to its expiry.

>>> print(timeline("RANGE 4 SLIDE 2", arrivals=[1, 2, 5], until=10))
[RANGE 4 SLIDE 2]
t      1  2  3  4  5  6  7  8  9 10
at 1   ○  ●──●──●──●
at 2      ●──●──●──●
at 5               ○  ●──●──●──●
holds  0  2  2  2  2  1  1  1  1  0
moves     ▲     ▲     ▲     ▲     ▲

The reference evaluator computes the window at every instant; this module only draws its answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thalweg.algebra.catalog import Catalog, Stream
from thalweg.algebra.plan import StreamScan, Windowed
from thalweg.algebra.windows import Landmark, PartitionedRows, Range, Window
from thalweg.core.errors import DataError, WindowError
from thalweg.core.rows import Value
from thalweg.core.schema import Field, Schema
from thalweg.core.time import BEGINNING, FOREVER, Clock, Instant
from thalweg.core.types import DataType
from thalweg.cql.build import QueryBuilder
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

IN, OUT, ARRIVED, ON, MOVES = "●", " ", "○", "─", "▲"
MOST_INSTANTS = 60  # as many as fit on a screen
INSTANTS_AFTER_LAST_CHANGE = 1  # so that the last change is visible

EXAMPLE_ARRIVALS = ((1, 10), (2, 20), (5, 10), (6, 25))  # (instant, value); windows without columns ignore the value

_NUMBER = "__tuple"  # a column that makes equal tuples distinct
_HINT = "an arrival is an instant, or (instant, value, ...) with a value for each column that the window names"

Given = int | tuple[Value, ...]


@dataclass(frozen=True)
class TupleLine:
    """The line of one tuple: its label, its arrival, and the instants at which the window shows it."""

    label: str
    ts: Instant
    shown: frozenset[Instant]

    def cell(self, t: Instant, width: int) -> str:
        """The mark for one instant, with the line that leads to it from the instant before."""
        if t not in self.shown:
            return (ARRIVED if t == self.ts else OUT).rjust(width)
        return IN.rjust(width, ON if t - 1 in self.shown else OUT)


def timeline(window: str, arrivals: Sequence[Given] | None = None, until: Instant | None = None) -> str:
    """The window as a drawing over the instants up to `until`, which are plain integers.

    An arrival is an instant; where the window names columns, as PARTITION BY k and RANGE 5 ON a do, it is
    `(instant, value, ...)`. Without arrivals, a few examples are drawn. ● is an instant at which the window shows the
    tuple, ○ an arrival that it does not show (yet), → a tuple that stays. `holds` counts the tuples in the window;
    `moves` marks the instants to which a SLIDE moves the window.
    """
    columns = _builder(()).window_columns(window)
    usual = [(ts, *(value for _ in columns)) for ts, value in EXAMPLE_ARRIVALS]
    given = usual if arrivals is None else arrivals
    rows = sorted((_row(each, columns) for each in given), key=lambda row: row[0])
    if not rows:
        raise DataError("a timeline needs tuples to draw", hint=_HINT)
    plan = _plan(window, columns, rows)
    last = _last(plan.window, [ts for ts, _ in rows]) if until is None else until
    ruler = range(rows[0][0], last + 1)
    if not 0 < len(ruler) <= MOST_INSTANTS:
        raise DataError(
            f"a timeline from {rows[0][0]} to {last} has {max(0, len(ruler))} instants; "
            f"1 to {MOST_INSTANTS} can be drawn",
            hint="take smaller numbers, or an `until` nearby",
        )
    tuples = _run(plan, rows, ruler)
    return "\n".join([plan.window.cql(plan.schema.names, Clock.TICKS), *_lines(plan.window, tuples, ruler)])


def _row(given: Given, columns: Sequence[str]) -> tuple[Instant, tuple[Value, ...]]:
    ts, *values = given if isinstance(given, tuple) else (given,)
    if not isinstance(ts, int) or len(values) != len(columns):
        named = f"a value for {', '.join(columns)}" if columns else "no values, for the window names no column"
        raise DataError(f"the arrival {given!r} should have an instant and {named}", hint=_HINT)
    return ts, tuple(values)


def _plan(window: str, columns: Sequence[str], rows: Sequence[tuple[Instant, tuple[Value, ...]]]) -> Windowed:
    """The window over a stream with the columns that it names; their types are those of the given values."""
    fields = [Field(name, _type([row[i] for _, row in rows])) for i, name in enumerate(columns)]
    builder = _builder([*fields, Field(_NUMBER, DataType.BIGINT)])
    try:
        plan = builder.window(builder.source("s").plan, window)
    except WindowError as error:
        if error.hint and "TIMESTAMP BY" in error.hint:
            error.hint = "take plain numbers: an instant of the drawing may be a second or an hour"
        raise
    assert isinstance(plan, Windowed)
    return plan


def _type(values: Sequence[Value]) -> DataType:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return DataType.DOUBLE if float in kinds else DataType.BIGINT
    return DataType.STRING


def _builder(fields: Sequence[Field]) -> QueryBuilder:
    catalog = Catalog()
    catalog.add(Stream("s", Schema(tuple(fields)), None))
    return QueryBuilder(catalog)


def _run(plan: Windowed, rows: Sequence[tuple[Instant, tuple[Value, ...]]], ruler: range) -> list[TupleLine]:
    """Every tuple with the instants at which the window shows it, up to the one after the ruler's last."""
    assert isinstance(plan.child, StreamScan)
    history = History()
    for number, (ts, values) in enumerate(rows):
        history.arrive(plan.child.source.name, ts, (*values, number))
    reference = Reference(plan, history)
    shown = {t: {row[-1] for row in reference.answer(t)} for t in range(ruler.start, ruler.stop + 1)}
    labels = [f"{', '.join('NULL' if v is None else str(v) for v in values)} at {ts}".strip() for ts, values in rows]
    return [
        TupleLine(label, ts, frozenset(t for t, held in shown.items() if number in held))
        for number, (label, (ts, _)) in enumerate(zip(labels, rows, strict=True))
    ]


def _lines(window: Window, tuples: Sequence[TupleLine], ruler: range) -> list[str]:
    """The ruler, a line for each tuple, and the number of tuples in the window."""
    margin = max(len(line) for line in ("holds", *(each.label for each in tuples)))
    width = max(2, *(len(str(t)) for t in ruler)) + 1

    def line(label: str, cells: Iterable[str]) -> str:
        return f"{label:<{margin}}{''.join(cell.rjust(width) for cell in cells)}".rstrip()

    drawn = [line("t", map(str, ruler))]
    for each in tuples:
        stays = "─→" if {ruler[-1], ruler.stop} <= each.shown else ""
        drawn.append(line(each.label, (each.cell(t, width) for t in ruler)) + stays)
    drawn.append(line("holds", (str(sum(t in each.shown for each in tuples)) for t in ruler)))
    steps = window.range if isinstance(window, PartitionedRows) else window
    if isinstance(steps, Range) and steps.slide > 1:
        drawn.append(line("moves", (MOVES if steps.scope(t).last == t else OUT for t in ruler)))
    return drawn


def _last(window: Window, arrivals: Sequence[Instant]) -> Instant:
    """The last instant to draw: just after the last change that the passing of time causes."""
    fixed = (window.start, window.end) if isinstance(window, Landmark) else ()
    known = [t for t in fixed if BEGINNING < t < FOREVER]
    return max([*known, *arrivals, *(t for ts in arrivals for t in window.boundaries(ts))]) + INSTANTS_AFTER_LAST_CHANGE
