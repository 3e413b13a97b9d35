"""What happens to the streams and tables of golden queries: drawn once from a seed, then part of the golden file."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Bag, Row, Value, sorted_rows
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.reference.history import History

SECOND = 1_000_000
_VALUES: dict[DataType, list[Value]] = {
    DataType.BOOLEAN: [True, False, None],
    DataType.BIGINT: [0, 1, 2, 3, 4, 5, None],
    DataType.DOUBLE: [0.5, -1.0, 2.25, 0.0, 1e300, None],
    DataType.STRING: ["a", "b", "Ä", "", None],
    DataType.TIMESTAMP: [0, 3 * SECOND, 5 * SECOND, 86_400 * SECOND, None],
    DataType.INTERVAL: [0, SECOND, 60 * SECOND, None],
}


class Event(NamedTuple):
    """A tuple of a stream arrives (sign 0), or a table gains (1) or loses (-1) a row."""

    t: Instant
    source: str
    sign: int
    row: Row


Batch = list[Event]


def drawn(catalog: Catalog, sources: Iterable[str], count: int, seed: str, tick: int = 1) -> list[Event]:
    """So many events of some sources, in order of time."""
    rng, names, held = random.Random(seed), sorted(sources), defaultdict[str, list[Row]](list)
    events, t = list[Event](), 0
    for _ in range(count):
        t += rng.choice([0, 0, 1, 1, 2])
        entry = catalog.get(rng.choice(names))
        row = tuple(rng.choice(_VALUES[field.type]) for field in entry.schema)  # type: ignore[union-attr]
        if isinstance(entry, Stream):
            if entry.timestamp is not None:
                row = (*row[: entry.timestamp], t * tick, *row[entry.timestamp + 1 :])
            events.append(Event(t * tick, entry.name, 0, row))
        elif isinstance(entry, Relation):
            events += _changed(entry, t * tick, row, held[entry.name], rng)
    return events


def _changed(table: Relation, t: Instant, row: Row, held: list[Row], rng: random.Random) -> list[Event]:
    """A row is lost, or one is gained; the one that has its key goes with the same event."""
    if held and rng.random() < 0.3:
        lost = held.pop(rng.randrange(len(held)))
        return [Event(t, table.name, -1, lost)]
    row = tuple(0 if i in table.key and value is None else value for i, value in enumerate(row))
    if table.key:
        held[:] = [other for other in held if any(other[i] != row[i] for i in table.key)]
    held.append(row)
    return [Event(t, table.name, 1, row)]


def batches(events: Sequence[Event], size: int) -> list[Batch]:
    """Whole instants, some events at a time."""
    cut: list[Batch] = []
    for _, instant in groupby(events, lambda event: event.t):
        if not cut or len(cut[-1]) >= size:
            cut.append([])
        cut[-1] += instant
    return cut


def larger(cut: Sequence[Batch], times: int) -> list[Batch]:
    """Several batches as one."""
    return [[event for batch in cut[i : i + times] for event in batch] for i in range(0, len(cut), times)]


def history(catalog: Catalog, events: Iterable[Event]) -> History:
    """The history for the reference."""
    past, held = History(), defaultdict[str, list[Row]](list)
    for t, source, sign, row in events:
        entry, there = catalog.get(source), held[source]
        if isinstance(entry, Stream):
            past.arrive(source, t, row)
            continue
        assert isinstance(entry, Relation)
        same = [other for other in there if entry.key and all(other[i] == row[i] for i in entry.key)]
        for other in [row] if sign < 0 else same:
            past.delete(source, t, other)
            there.remove(other)
        if sign > 0:
            past.insert(source, t, row)
            there.append(row)
    return past


# -- as JSON


def read_events(given: Sequence[Sequence[Any]]) -> list[Event]:
    """What JSON made of events."""
    return [Event(t, source, sign, tuple(row)) for t, source, sign, row in given]


def bag_rows(bag: Bag) -> list[Row]:
    """A bag as JSON has it."""
    return sorted_rows(bag)


def read_bag(given: Sequence[Sequence[Value]]) -> Bag:
    """What JSON made of a bag."""
    return Bag(tuple(row) for row in given)
