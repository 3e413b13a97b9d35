"""A .cql file: its text, its queries, and the choice among them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError, NameNotFoundError, PlanError, did_you_mean
from thalweg.core.time import Instant, from_datetime
from thalweg.cql import compile_script
from thalweg.formats.recorded import no_such_file
from thalweg.patterns import check
from thalweg.runtime.registry import name_all

STDIN = "-"


class Script(NamedTuple):
    """CQL text, and its name in error messages."""

    text: str
    name: str


class NamedQuery(NamedTuple):
    """A query of a script that can be run; one without a name is called q1, q2, ... by its place."""

    name: str
    plan: Plan


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


Q = TypeVar("Q", bound=_HasName)


def read_script(file: str) -> Script:
    """The text of a file, or of standard input for `-`."""
    if file == STDIN:
        return Script(sys.stdin.read(), "stdin")
    path = Path(file)
    try:
        return Script(path.read_text(encoding="utf-8-sig"), file)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {file}: {error}") from None


def midnight() -> Instant:
    """The start of today: a time of day without a date in a window is a time of today."""
    return from_datetime(datetime.combine(date.today(), time()))


def checked_queries(script: Script, catalog: Catalog | None = None) -> list[NamedQuery]:
    """The queries of a script, whose declarations go to the catalogue.

    Raises if there is no query, or if a query cannot be answered exactly.
    """
    compiled = compile_script(script.text, Catalog() if catalog is None else catalog, script.name, midnight())
    if not compiled:
        raise PlanError(f"{script.name} has no query", hint="REGISTER QUERY name AS SELECT ...")
    names = name_all([query.name for query in compiled])
    queries = [NamedQuery(name, query.plan) for name, query in zip(names, compiled, strict=True)]
    for query in queries:
        try:
            check(query.plan)
        except PlanError as error:
            error.message = f"query {query.name}: {error.message}"
            raise
    return queries


def choose(queries: Sequence[Q], wanted: Sequence[str]) -> list[Q]:
    """The queries with these names, in the order of the script; all queries if no name is given."""
    names = [query.name for query in queries]
    for name in wanted:
        if name.casefold() not in map(str.casefold, names):
            raise NameNotFoundError(f"there is no query {name}", candidates=names, hint=did_you_mean(name, names))
    folded = [name.casefold() for name in wanted]
    return [query for query in queries if not wanted or query.name.casefold() in folded]
