"""Short ways to write histories, plans and answers by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strategies.catalog import N, R, S, T, U
from thalweg.algebra.expressions import Column, Expression, call, column
from thalweg.algebra.plan import Plan, RelationScan, StreamScan, Windowed
from thalweg.algebra.windows import Window
from thalweg.core.rows import Row, Value, sorted_rows
from thalweg.core.time import Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

STREAMS = {"s": StreamScan(S), "t": StreamScan(T), "u": StreamScan(U)}
TABLE = RelationScan(R)
NRR = RelationScan(N)


def history_of(
    tables: Mapping[str, Sequence[tuple[Instant, str, Row]]] | None = None, **streams: Sequence[tuple[Instant, Row]]
) -> History:
    """A history: streams as (ts, row), tables as (t, "+" or "-", row)."""
    history = History()
    for name, updates in (tables or {}).items():
        for t, sign, row in updates:
            (history.insert if sign == "+" else history.delete)(name, t, row)
    for name, arrivals in streams.items():
        for ts, row in arrivals:
            history.arrive(name, ts, row)
    return history


def over(stream: str, window: Window) -> Windowed:
    """A window on one of the catalogue's streams."""
    return Windowed(STREAMS[stream], window)


def col(plan: Plan, index: int) -> Column:
    """A column of a plan."""
    return column(plan.schema, index)


def equal(left: Plan, i: int, right: Plan, j: int) -> Expression:
    """The join condition left.i = right.j."""
    both = left.schema + right.schema
    return call("=", column(both, i), column(both, len(left.schema) + j))


def rows(plan: Plan, history: History, t: Instant) -> list[Row]:
    """Q(t), sorted."""
    return sorted_rows(Reference(plan, history).answer(t))


def values(plan: Plan, history: History, t: Instant) -> list[Value]:
    """The last column of Q(t), sorted by row."""
    return [row[-1] for row in rows(plan, history, t)]
