"""The events that a scenario feeds to an engine, with stored values and with times in ticks."""

from __future__ import annotations

from typing import NamedTuple

from thalweg.core.rows import Row
from thalweg.core.time import Instant


class Arrive(NamedTuple):
    """A row arrives on a stream; a timestamp column, if there is one, is part of the row."""

    stream: str
    t: Instant
    row: Row


class Insert(NamedTuple):
    """A table gains a row at `t`; BEGINNING means before the clock starts, here and below."""

    relation: str
    t: Instant
    row: Row


class Update(NamedTuple):
    """At `t` a row of a table replaces the one that has its key."""

    relation: str
    t: Instant
    row: Row


class Delete(NamedTuple):
    """At `t` a table loses the row with this key."""

    relation: str
    t: Instant
    key: Row


class Advance(NamedTuple):
    """Time passes up to `t` on every stream, even if nothing arrives."""

    t: Instant


Event = Arrive | Insert | Update | Delete | Advance
