"""A scenario's events as micro-batches, for engines that take many rows at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Row
from thalweg.core.time import BEGINNING, Instant
from thalweg.scenarios.events import Advance, Arrive, Delete, Event, Insert, Update


def micro_batches(events: Sequence[Event], catalog: Catalog) -> Iterator[list[Event]]:
    """Batches of events, cut so that the same rows are late as if each event were a batch of its own.

    Whether a row is late depends on the batches before. So an Advance ends a batch, and each row of a stream with a
    lateness is a batch of its own.
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
    """The time of the first event that concerns a query over some sources."""
    times = [event.t for event in events if isinstance(event, Advance) or event[0] in sources]
    return min((t for t in times if t > BEGINNING), default=None)


def table_row(relation: Relation, event: Insert | Update | Delete) -> tuple[int, Row]:
    """A table's change as a sign and a row; a deleted row has only its key."""
    if not isinstance(event, Delete):
        return 1, event.row
    key = dict(zip(relation.key, event.key, strict=True))
    return -1, tuple(key.get(i) for i in range(len(relation.schema)))
