"""The queries of an engine by name, and the plans that users' queries mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Generic, Protocol, TypeVar

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Plan
from thalweg.core.errors import NameNotFoundError, PlanError, did_you_mean
from thalweg.core.time import Instant
from thalweg.cql import compile_query
from thalweg.fluent import Table
from thalweg.patterns import check


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Q = TypeVar("Q", bound=_Named)


class QueryRegistry(Generic[Q]):
    """Queries in the order in which they were made. No two have one name; case does not matter."""

    def __init__(self) -> None:
        self._queries: dict[str, Q] = {}

    def __iter__(self) -> Iterator[Q]:
        return iter([*self._queries.values()])

    def __len__(self) -> int:
        return len(self._queries)

    def add(self, query: Q) -> Q:
        """One more, under a name from `free_name` or `name_all`."""
        self._queries[query.name.casefold()] = query
        return query

    @property
    def names(self) -> list[str]:
        """The names that are taken."""
        return [query.name for query in self]

    def free_name(self, name: str | None) -> str:
        """The name itself, which must be free, or else q1, q2, ..."""
        if name and name.casefold() in self._queries:
            raise PlanError(f"there is a query called {name} already", hint="drop(name) ends it")
        return name or name_all([None], self.names)[0]

    def get(self, name: str) -> Q:
        """The query of that name."""
        if name.casefold() not in self._queries:
            raise NameNotFoundError(
                f"there is no query {name}", candidates=self.names, hint=did_you_mean(name, self.names)
            )
        return self._queries[name.casefold()]

    def drop(self, query: Q | str) -> Q:
        """Forget a query, given by its name or itself."""
        found = self.get(query if isinstance(query, str) else query.name)
        if not isinstance(query, str) and found is not query:
            raise NameNotFoundError(f"the query {query.name} is not one of this engine", candidates=self.names)
        return self._queries.pop(found.name.casefold())


def name_all(given: Sequence[str | None], taken: Sequence[str] = ()) -> list[str]:
    """Names for queries: those without one are called q1, q2, ... by their place, or later if that is taken."""
    used = {name.casefold() for name in [*given, *taken] if name}
    names: list[str] = []
    for place, name in enumerate(given, start=len(taken) + 1):
        names.append(name or next(q for i in count(place) if (q := f"q{i}") not in used))
        used.add(names[-1])
    return names


def plan_of(query: str | Table | Plan, catalog: Catalog, today: Instant | None = None) -> Plan:
    """The plan of a query that a user gives, checked to be one that can run exactly."""
    if isinstance(query, Table):
        query.require(catalog)
        query = query.plan
    plan = query if isinstance(query, Plan) else compile_query(query, catalog, today=today)
    check(plan)
    return plan


def text_of(query: str | Table | Plan) -> str:
    """The CQL of a query; empty if it was built in Python."""
    return query if isinstance(query, str) else ""
