"""A scenario's events as micro-batches, for engines that take many rows at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Row
from thalweg.core.time import BEGINNING, Instant
from thalweg.scenarios.events import Advance, Arrive, Delete, Event, Insert, Update


def micro_batches(events: Sequence[Event], catalog: Catalog) -> Iterator[list[Event]]:
    """Events that may go into one batch without changing which of them are late.

    A row is late or not by what came in batches before. So time that is moved by hand ends a batch, and each row of a
    stream that lets rows come late is a batch of its own.
    """
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if isinstance(event, Advance) or _may_be_late(event, catalog):
            yield batch
            batch = []
    if batch:
        yield batch


def _may_be_late(event: Event, catalog: Catalog) -> bool:
    if not isinstance(event, Arrive):
        return False
    entry = catalog.get(event.stream)
    return isinstance(entry, Stream) and entry.lateness is not None


def first_instant(events: Sequence[Event], sources: Collection[str]) -> Instant | None:
    """The first instant at which anything happens to a query over some sources, or to which time is moved."""
    times = [event.t for event in events if isinstance(event, Advance) or event[0] in sources]
    return min((t for t in times if t > BEGINNING), default=None)


def table_row(relation: Relation, event: Insert | Update | Delete) -> tuple[int, Row]:
    """A table's change as a sign and a row; of a row that is taken away the key is enough."""
    if not isinstance(event, Delete):
        return 1, event.row
    key = dict(zip(relation.key, event.key, strict=True))
    return -1, tuple(key.get(i) for i in range(len(relation.schema)))
