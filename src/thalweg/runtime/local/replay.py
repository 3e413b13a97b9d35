"""Recorded events go through a session in order of time; its queries are read on the way."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, takewhile
from typing import Any, NamedTuple

from thalweg.core.errors import DataError
from thalweg.core.rows import bag_difference
from thalweg.core.time import BEGINNING, Instant
from thalweg.formats.recorded.events import DELETE, INSERT, UPDATE, RecordedEvent
from thalweg.runtime.interface import StandingQuery
from thalweg.runtime.local.session import Session
from thalweg.runtime.local.streams import StreamClock

CHUNK = 1_000  # rows between two readings of the queries

SignedRow = tuple[Any, int, tuple[Any, ...]]
ReplayedQuery = StandingQuery[list[tuple[Any, ...]], list[SignedRow]]  # one of its own, or one of a flow


class ReplayStep(NamedTuple):
    """The changes of one query since the last step, in order of time; every instant among them is complete."""

    query: ReplayedQuery
    changes: list[SignedRow]


@dataclass
class Replay:
    """Pushes recorded events into a session, earliest first; each source is a stream's file or a table's updates.

    Within a source the order is kept, so a stream's rows may come late if it declares a lateness. Time ends at
    `until`, or with the last row. `progress` is called with the number of rows so far before the queries are read; it
    may change `queries`.
    """

    session: Session
    queries: Sequence[ReplayedQuery]
    sources: Sequence[Iterable[RecordedEvent]]
    until: Instant | None = None
    progress: Callable[[int], None] = lambda rows: None
    chunk: int = CHUNK
    rows: int = 0
    _last: Instant = BEGINNING
    _clocks: dict[str, StreamClock] = field(default_factory=dict)

    def steps(self) -> Iterator[ReplayStep]:
        """Run to the end; after every chunk of rows, what has changed in each query."""
        self._clocks = {s.name: StreamClock(s) for s in self.session.catalog.streams}
        feeds: dict[ReplayedQuery, _Feed] = {}
        events = heapq.merge(*map(self._cut, self.sources), key=lambda e: e.ts)
        while chunk := list(islice(events, self.chunk)):
            for name, run in groupby(chunk, key=lambda e: e.name):
                self._happen(name, list(run))
            self.rows += len(chunk)
            self.progress(self.rows)
            self._last = max(self._last, *(e.ts for e in chunk))
            if self._last > BEGINNING and len(chunk) == self.chunk:  # a smaller one is the last
                yield from (feeds.setdefault(query, _Feed(query)).step() for query in list(self.queries))
        if self.has_time:
            self.session.advance(self._last if self.until is None else self.until)
            self.progress(self.rows)
            yield from (feeds.setdefault(query, _Feed(query)).step(final=True) for query in list(self.queries))

    def finish(self) -> None:
        """Run to the end without reading queries on the way."""
        for _ in self.steps():
            pass

    @property
    def has_time(self) -> bool:
        """Whether anything so far says what time it is: a table's rows need not."""
        return self.until is not None or self._last > BEGINNING

    def _cut(self, source: Iterable[RecordedEvent]) -> Iterator[RecordedEvent]:
        """The source up to the first row that proves `until` to be past."""
        if self.until is None:
            return iter(source)
        until = self.until
        return takewhile(lambda e: e.ts <= until + self._lateness(e.name), source)

    def _lateness(self, name: str) -> int:
        return (self._clocks[name].stream.lateness or 0) if name in self._clocks else 0

    def _happen(self, name: str, events: list[RecordedEvent]) -> None:
        if name in self._clocks:
            self._arrive(self._clocks[name], events)
            return
        for event in events:
            change = {INSERT: self.session.insert, DELETE: self.session.delete, UPDATE: self.session.update}[event.op]
            try:
                change(name, [event.row], at=None if event.ts == BEGINNING else event.ts)
            except DataError as error:
                raise _placed(error, event) from None

    def _arrive(self, clock: StreamClock, events: list[RecordedEvent]) -> None:
        stream = clock.stream
        for event in events:
            # The session refuses such a row too, but does not know which line of which file it is.
            if stream.lateness is None and not clock.accepts(event.ts):
                raise _placed(clock.refusal(event.ts), event)
            clock.see(event.ts)
        timed = [e.row if stream.timestamp is not None else (e.ts, *e.row) for e in events]
        self.session.push(stream.name, timed)


class _Feed:
    """The changes of a query, held back while their instant may still grow."""

    def __init__(self, query: ReplayedQuery) -> None:
        self._query = query
        self._open: list[SignedRow] = []

    def step(self, final: bool = False) -> ReplayStep:
        """What has changed at instants that time has left; with `final`, at all."""
        changes, now = self._query.changes(), self._query.now
        if self._open:
            # Changes that cancel within one instant are not reported.
            t = self._open[0][0]
            grown = _net(t, self._open + [c for c in changes if c[0] == t])
            changes = grown + [c for c in changes if c[0] != t]
        self._open = [] if final else [c for c in changes if c[0] == now]
        return ReplayStep(self._query, changes if final else [c for c in changes if c[0] != now])


def _net(t: Any, changes: list[SignedRow]) -> list[SignedRow]:
    gone, new = (Counter(row for _, sign, row in changes if sign == wanted) for wanted in (-1, +1))
    return [(c.t, c.sign, c.row) for c in bag_difference(gone, new, t)]


def _placed(error: DataError, event: RecordedEvent) -> DataError:
    error.message = f"{event.where}: {error.message}"
    return error
