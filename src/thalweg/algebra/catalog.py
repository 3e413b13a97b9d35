"""Streams, relations and views by name, and the aggregates that users have registered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import NameNotFoundError, PlanError, did_you_mean
from thalweg.core.schema import Schema
from thalweg.core.time import Clock

if TYPE_CHECKING:
    from thalweg.algebra.plan import Plan


@dataclass(frozen=True)
class Stream:
    """An append-only sequence of tuples in time.

    `timestamp` is the column that carries the time; without one a tuple's time is the integer it is pushed with.
    `lateness` is None where out-of-order rows are refused, else the ticks by which a row may come late.
    """

    name: str
    schema: Schema
    timestamp: int | None = None
    lateness: int | None = None
    statistics: SourceStatistics | None = field(default=None, compare=False)  # as declared

    @property
    def clock(self) -> Clock:
        """What a tick of this stream means."""
        return Clock.TICKS if self.timestamp is None else Clock.TIMESTAMPS


@dataclass(frozen=True)
class Relation:
    """A table that takes inserts, deletes and updates; `key` holds the positions of its primary key.

    Retroactive: an update changes what older stream tuples join with (Definition 1). Not retroactive (an NRR): a
    tuple keeps what it met at its own ts (Definition 2).
    """

    name: str
    schema: Schema
    key: tuple[int, ...] = ()
    retroactive: bool = True
    statistics: SourceStatistics | None = field(default=None, compare=False)  # as declared

    @property
    def kind(self) -> str:
        """`relation` or `NRR`, as errors and EXPLAIN say it."""
        return "relation" if self.retroactive else "NRR"


@dataclass(frozen=True)
class View:
    """A named query."""

    name: str
    plan: Plan


Entry = Stream | Relation | View


@dataclass
class Catalog:
    """All names a query may refer to. Case does not matter."""

    _entries: dict[str, Entry] = field(default_factory=dict)
    _aggregates: dict[str, UserAggregate] = field(default_factory=dict)  # functions have names of their own
    _functions: dict[str, UserFunction] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Add `entry`; its name must be new."""
        if entry.name.casefold() in self._entries:
            raise PlanError(f"the name {entry.name} is taken", hint="choose another name")
        self._entries[entry.name.casefold()] = entry

    def replace(self, entry: Entry) -> None:
        """Replace the entry of the same name."""
        self._entries[entry.name.casefold()] = entry

    def copy(self) -> Catalog:
        """A copy, for changes that may fail."""
        return Catalog(dict(self._entries), dict(self._aggregates), dict(self._functions))

    def adopt(self, tried: Catalog) -> None:
        """Replace the contents by those of a changed copy."""
        self._entries, self._aggregates = dict(tried._entries), dict(tried._aggregates)
        self._functions = dict(tried._functions)

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """Add a user's aggregate; its name must be new, unless it is the same aggregate."""
        if self._aggregates.setdefault(aggregate.name.casefold(), aggregate) != aggregate:
            raise PlanError(
                f"there is an aggregate called {aggregate} already", hint='give it another name: @aggregate(name="...")'
            )

    def add_function(self, function: UserFunction) -> None:
        """Add a user's function; its name must be new, unless it is the same function."""
        known = self._functions.setdefault(str(function), function)
        if known.definition is not function.definition or repr(known) != repr(function):
            raise PlanError(
                f"there is a function called {function.upper()} already",
                hint='give it another name: @function(name="...")',
            )

    def function(self, name: str) -> UserFunction | None:
        """The user's function called `name`, if there is one."""
        return self._functions.get(name.lower())

    @property
    def functions(self) -> list[UserFunction]:
        """All functions of users, in order of registration."""
        return list(self._functions.values())

    def aggregate(self, name: str) -> UserAggregate | None:
        """The user's aggregate called `name`, if there is one."""
        return self._aggregates.get(name.casefold())

    @property
    def aggregates(self) -> list[UserAggregate]:
        """All aggregates of users, in order of registration."""
        return list(self._aggregates.values())

    def get(self, name: str) -> Entry:
        """The entry called `name`, or an error that lists all names."""
        found = self._entries.get(name.casefold())
        if found is None:
            raise NameNotFoundError(
                f"there is no stream, relation or view called {name}",
                candidates=self.names,
                hint=did_you_mean(name, self.names) or _when_empty(self.names),
            )
        return found

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._entries

    @property
    def entries(self) -> list[Entry]:
        """All streams, relations and views, in order of creation."""
        return list(self._entries.values())

    @property
    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(e.name for e in self._entries.values())

    @property
    def streams(self) -> list[Stream]:
        """All streams, in order of creation."""
        return [e for e in self._entries.values() if isinstance(e, Stream)]

    @property
    def relations(self) -> list[Relation]:
        """All relations and NRRs, in order of creation."""
        return [e for e in self._entries.values() if isinstance(e, Relation)]


def _when_empty(names: list[str]) -> str | None:
    return None if names else "declare it first: CREATE STREAM name (column TYPE, ...)"
