"""The second oracle: window contents at t loaded into DuckDB, and the one-time query run over them.

It shares with the reference the windows' `contents` and nothing else: DuckDB evaluates every operator, dates are SQL
columns, and a stream operator is replayed tick by tick instead of at the instants where something may change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import duckdb

from reference.oracle.tables import table
from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.plan import (
    DStream,
    IStream,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    StreamScan,
    Windowed,
)
from thalweg.algebra.sql import one_time_sql
from thalweg.core.rows import Arrival, Bag, Dated, Row, row_key, sorted_rows
from thalweg.core.time import FOREVER, Instant
from thalweg.reference.history import History


def duckdb_answer(plan: Plan, history: History, t: Instant) -> Bag:
    """Q(t) as DuckDB sees it."""
    return Oracle(history).answer(plan, t)


class Oracle:
    """DuckDB's answers over one history that no longer grows."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[tuple[Plan, Instant], list[Dated]] = {}
        self._alone_known: dict[tuple[Plan, Row], list[Row]] = {}

    def answer(self, plan: Plan, t: Instant) -> Bag:
        """Q(t)."""
        if isinstance(plan, IStream | DStream | RStream):
            return Counter(d.row for d in self.tuples(plan, t))
        return Counter(self._run(plan, t, dated=False))

    def tuples(self, plan: Plan, t: Instant) -> list[Dated]:
        """Q(t) with the dates that SQL computed."""
        key = (plan, t)
        if key not in self._known:
            match plan:
                case IStream(child) | DStream(child) | RStream(child):
                    self._known[key] = self._emitted(plan, child, t)
                case _:
                    rows = self._run(plan, t, dated=True)
                    self._known[key] = [Dated(row[:-2], _instant(row[-2]), _instant(row[-1])) for row in rows]
        return self._known[key]

    def _run(self, plan: Plan, t: Instant, dated: bool) -> list[Row]:
        emitted: dict[str, Plan] = {}
        grounded = _grounded(plan, emitted)

        def leaf(node: Plan) -> str:
            match node:
                case StreamScan(source) if source.name in emitted:
                    return table(node.schema, _with_dates(self.tuples(emitted[source.name], t)), ("ts_", "exp_"))
                case StreamScan() | Windowed():
                    return table(node.schema, _with_dates(self._contents(node, t)), ("ts_", "exp_"))
                case RelationScan(source) if source.retroactive:
                    return table(node.schema, [d.row for d in self._history.relation(source.name, t)])
                case RelationScan(source):
                    return table(node.schema, self._validity(source.name), ("from_", "to_"))
                case _:
                    raise AssertionError(f"{node.label} is no leaf")

        sql = one_time_sql(grounded, Dialect.DUCKDB, leaf, dated=dated)
        return [tuple(row) for row in _connection().execute(sql).fetchall()]

    def _contents(self, node: Plan, t: Instant) -> list[Dated]:
        match node:
            case Windowed(child, window):
                arrivals = self._arrivals(child, t)
            case StreamScan(source):
                return [Dated(a.row, a.ts) for a in self._history.stream(source.name, t)]
            case _:
                raise AssertionError(f"{node.label} is no leaf")
        return [Dated(a.row, a.ts, window.expiry(a.ts)) for a in window.contents(arrivals, t)]

    def _arrivals(self, stream: Plan, t: Instant) -> list[Arrival]:
        base = stream
        while isinstance(base, Select | Project):
            base = base.child
        if not isinstance(base, StreamScan):
            derived = sorted(self.tuples(stream, t), key=lambda d: (d.ts, row_key(d.row)))
            return [Arrival(d.ts, seq, d.row) for seq, d in enumerate(derived)]
        # Selections and projections keep the order of arrival, so each tuple passes them by itself.
        arrivals = self._history.stream(base.source.name, t)
        return [a._replace(row=row) for a in arrivals for row in self._alone(stream, base, a.row)]

    def _alone(self, plan: Plan, base: StreamScan, row: Row) -> list[Row]:
        """What a plan makes of a single tuple of its stream."""
        key = (plan, row)
        if key not in self._alone_known:
            sql = one_time_sql(plan, Dialect.DUCKDB, lambda _: table(base.schema, [(*row, 0, 0)], ("ts_", "exp_")))
            self._alone_known[key] = [tuple(found) for found in _connection().execute(sql).fetchall()]
        return self._alone_known[key]

    def _validity(self, nrr: str) -> list[Row]:
        """Every state of an NRR with the instants between which it stood."""
        edges = [*sorted({u.t for u in self._history.updates(nrr)}), FOREVER]
        return [(*d.row, start, end) for start, end in pairwise(edges) for d in self._history.relation(nrr, start)]

    def _emitted(self, node: Plan, child: Plan, t: Instant) -> list[Dated]:
        emitted: list[Dated] = []
        first = self._first_instant(child)
        before = self.tuples(child, first - 1)
        for tick in range(first, t + 1):
            now = self.tuples(child, tick)
            gone, new = _rows(before), _rows(now)
            match node:
                case IStream():
                    rows = new - gone
                case DStream():
                    rows = gone - new
                case _:
                    rows = new if _timed(now) != _timed(before) else Counter()
            emitted += [Dated(row, tick) for row in sorted_rows(rows)]
            before = now
        return emitted

    def _first_instant(self, plan: Plan) -> Instant:
        times = [a.ts for n in plan.walk() if isinstance(n, StreamScan) for a in self._history.stream(n.source.name)]
        times += [u.t for n in plan.walk() if isinstance(n, RelationScan) for u in self._history.updates(n.source.name)]
        return min(times, default=0)


def _grounded(plan: Plan, emitted: dict[str, Plan]) -> Plan:
    """The plan with each stream operator outside of a window replaced by a stream of what it has emitted."""
    match plan:
        case IStream() | DStream() | RStream():
            name = f"emitted {len(emitted)}"
            emitted[name] = plan
            return StreamScan(Stream(name, plan.schema))
        case Windowed():
            return plan
        case _:
            return plan.with_children(*(_grounded(child, emitted) for child in plan.children))


def _with_dates(tuples: Sequence[Dated]) -> list[Row]:
    return [(*d.row, d.ts, d.exp) for d in tuples]


def _rows(tuples: Sequence[Dated]) -> Bag:
    return Counter(d.row for d in tuples)


def _timed(tuples: Sequence[Dated]) -> Counter[tuple[Row, Instant]]:
    return Counter((d.row, d.ts) for d in tuples)


def _instant(value: object) -> Instant:
    assert isinstance(value, int)
    return value


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")  # thousands of tiny queries
    return connection
