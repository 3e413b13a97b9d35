"""Histories: ties, bursts and silences, NULLs, few distinct values, and tables that change meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from strategies.catalog import VALUES
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.reference.history import History

# What a number drawn by Hypothesis does to a history at an instant.
Event = Callable[[History, Instant, int], None]

# 0 is a tie, several of them a burst; 9 is longer than any drawn window.
_GAPS = st.sampled_from([1, 0, 1, 2, 0, 3, 0, 9])
_NUMBERS = st.integers(0, 124)


@st.composite
def histories(draw: st.DrawFn, catalog: Catalog, max_size: int = 20) -> History:
    """What happens to the streams and relations of a catalogue, in order of time."""
    events = [_arrive(s) for s in catalog.streams] * 3
    events += [e for r in catalog.relations for e in (_insert(r), _insert(r), _change(r), _delete(r))]
    one = st.tuples(_GAPS, st.sampled_from(events), _NUMBERS)
    few, many = st.lists(one, max_size=max_size), st.lists(one, min_size=max_size // 2, max_size=max_size)
    history = History()
    t = draw(st.integers(-2, 3))
    for gap, event, number in draw(many | many | many | few):
        t += gap
        event(history, t, number)
    return history


def _arrive(stream: Stream) -> Event:
    return lambda history, t, number: history.arrive(stream.name, t, _row(stream.schema, number)) and None


def _insert(relation: Relation) -> Event:
    return lambda history, t, number: history.insert(relation.name, t, _row(relation.schema, number))


def _delete(relation: Relation) -> Event:
    """Some row goes, if there is one."""

    def event(history: History, t: Instant, number: int) -> None:
        present = history.relation(relation.name, t)
        if present:
            history.delete(relation.name, t, present[number % len(present)].row)

    return event


def _change(relation: Relation) -> Event:
    """Some row becomes another."""

    def event(history: History, t: Instant, number: int) -> None:
        present = history.relation(relation.name, t)
        if present:
            old = present[number % len(present)].row
            history.update(relation.name, t, old, _row(relation.schema, number))

    return event


def _row(schema: Schema, number: int) -> Row:
    """The row that a number stands for, digit by digit; 0 is the simplest."""
    row: Row = ()
    for type_ in schema.types:
        number, digit = divmod(number, len(VALUES[type_]))
        row += (VALUES[type_][digit],)
    return row
