"""Histories: ties, bursts and silences, NULLs, few distinct values, and tables that change meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from strategies.catalog import rows
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Row
from thalweg.core.time import Instant
from thalweg.reference.history import History

Event = Callable[[History, Instant], None]

# 0 is a tie; 9 is longer than any drawn window.
_GAPS = st.sampled_from([1, 0, 1, 2, 0, 3, 1, 9])


@st.composite
def histories(draw: st.DrawFn, catalog: Catalog, max_size: int = 14) -> History:
    """What happens to the streams and relations of a catalogue, told in order of time."""
    kinds = [_arrivals(s) for s in catalog.streams] * 2 + [_table_updates(r) for r in catalog.relations]
    history = History()
    t = draw(st.integers(-2, 3))
    for gap, events in draw(st.lists(st.tuples(_GAPS, st.one_of(kinds)), max_size=max_size)):
        t += gap
        for event in events:
            event(history, t)
    return history


def _arrivals(stream: Stream) -> st.SearchStrategy[list[Event]]:
    """One arrival, or a burst of equals and others in one instant."""

    def arrive(row: Row) -> Event:
        return lambda history, t: history.arrive(stream.name, t, row) and None

    single = st.lists(rows(stream.schema), min_size=1, max_size=1)
    burst = st.lists(rows(stream.schema), min_size=2, max_size=4)
    return (single | single | single | burst).map(lambda drawn: [arrive(row) for row in drawn])


def _table_updates(relation: Relation) -> st.SearchStrategy[list[Event]]:
    """An insert, a delete of some row there is, or a change of one row into another."""

    def insert(row: Row) -> Event:
        return lambda history, t: history.insert(relation.name, t, row)

    def delete(which: int) -> Event:
        def event(history: History, t: Instant) -> None:
            present = history.relation(relation.name, t)
            if present:
                history.delete(relation.name, t, present[which % len(present)].row)

        return event

    inserts = rows(relation.schema).map(insert)
    deletes = st.integers(0, 3).map(delete)
    changes = st.tuples(deletes, inserts).map(list)
    return st.one_of(inserts.map(lambda e: [e]), inserts.map(lambda e: [e]), deletes.map(lambda e: [e]), changes)
