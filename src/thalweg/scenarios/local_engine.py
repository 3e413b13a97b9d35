"""The local engine as a `ScenarioEngine`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any

from thalweg.algebra.catalog import Stream
from thalweg.core.python_values import read_row
from thalweg.core.rows import Bag, Change
from thalweg.core.time import BEGINNING, Instant, from_datetime
from thalweg.runtime.local import LocalQuery, Session
from thalweg.scenarios.events import Advance, Arrive, Delete, Event, Insert, Update


class LocalEngine:
    """A `Session` that takes and returns ticks and stored values, and runs all queries with one strategy."""

    def __init__(self, session: Session | None = None, strategy: str = "auto") -> None:
        self.session = session or Session(today=date(1970, 1, 1))
        self._strategy = strategy
        self._queries: dict[str, LocalQuery] = {}

    def prepare(self, cql: str, name: str) -> None:
        """Declare streams and relations and register the queries."""
        for query in self.session.execute(cql, source=name, strategy=self._strategy):
            self._queries[query.name] = query

    def feed(self, events: Sequence[Event]) -> None:
        """Feed these events; consecutive rows of one stream are pushed together."""
        for stream, group in groupby(events, lambda e: e.stream if isinstance(e, Arrive) else None):
            if stream is None:
                for event in group:
                    self._feed(event)
            else:
                self.session.push(stream, [self._pushed(event) for event in group])

    def _feed(self, event: Event) -> None:
        match event:
            case Insert(relation, t, row):
                self.session.insert(relation, [row], at=_at(t))
            case Update(relation, t, row):
                self.session.update(relation, [row], at=_at(t))
            case Delete(relation, t, key):
                self.session.delete(relation, [key], at=_at(t))
            case Advance(t):
                self.session.advance(t)

    def _pushed(self, event: Event) -> Sequence[Any]:
        assert isinstance(event, Arrive)
        return event.row if self._stream(event.stream).timestamp is not None else (event.t, *event.row)

    def answer(self, query: str, t: Instant) -> Bag:
        """The answer at an instant that has passed."""
        schema = self._queries[query].schema
        return Counter(read_row(schema, row, query) for row in self._queries[query].answer(t))

    def changes(self, query: str) -> list[Change]:
        """The signed rows since the last call."""
        schema = self._queries[query].schema
        return [
            Change(_ticks(t), sign, read_row(schema, row, query)) for t, sign, row in self._queries[query].changes()
        ]

    def late(self, stream: str) -> list[Arrive]:
        """The rows of a stream that came too late."""
        entry = self._stream(stream)
        rows = self.session.late(stream)
        if entry.timestamp is None:
            return [Arrive(entry.name, t, read_row(entry.schema, row, stream)) for t, *row in rows]
        return [Arrive(entry.name, _ticks(row[entry.timestamp]), read_row(entry.schema, row, stream)) for row in rows]

    def _stream(self, name: str) -> Stream:
        entry = self.session.catalog.get(name)
        assert isinstance(entry, Stream)
        return entry


def _at(t: Instant) -> Instant | None:
    """The time of a table update as the session takes it: None before the clock starts."""
    return None if t <= BEGINNING else t


def _ticks(t: Any) -> Instant:
    return from_datetime(t) if isinstance(t, datetime) else int(t)
