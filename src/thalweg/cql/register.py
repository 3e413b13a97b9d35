"""A user's function or aggregate becomes part of the language, unless its name means something else there."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import UserAggregate, UserFunction
from thalweg.core.errors import PlanError
from thalweg.cql.binder.functions import BUILT_IN
from thalweg.cql.dialect import parse_tree


def register(catalog: Catalog, given: Any) -> None:
    """Let queries over `catalog` call a function or an aggregate of the user's by its name."""
    if not isinstance(given, UserFunction):
        register_aggregate(catalog, given)
        return
    shown = given.upper()
    if given in BUILT_IN or catalog.aggregate(given) is not None:
        raise PlanError(f"{shown} is a function of CQL, or an aggregate", hint=_ANOTHER_FUNCTION)
    if not _can_be_called(str(given)):
        raise PlanError(f"{shown}(...) means something else in CQL", hint=_ANOTHER_FUNCTION)
    catalog.add_function(given)


def register_aggregate(catalog: Catalog, aggregate: Any) -> None:
    """Let queries over `catalog` call `aggregate` by its name."""
    if not isinstance(aggregate, UserAggregate):
        shown = getattr(aggregate, "__name__", repr(aggregate))
        raise PlanError(f"{shown} is not an aggregate", hint="declare it: @aggregate(returns=float)")
    if aggregate.name.lower() in BUILT_IN:
        raise PlanError(f"{aggregate} is a function of CQL", hint=_ANOTHER_NAME)
    if not _can_be_called(aggregate.name):
        raise PlanError(f"{aggregate}(...) means something else in CQL", hint=_ANOTHER_NAME)
    if catalog.function(aggregate.name) is not None:
        raise PlanError(f"there is a function called {aggregate} already", hint=_ANOTHER_NAME)
    catalog.add_aggregate(aggregate)


_ANOTHER_FUNCTION = 'give it another name: @function(name="...")'
_ANOTHER_NAME = 'give it another name: @aggregate(name="...")'


def _can_be_called(name: str) -> bool:
    """Whether the parser reads `name(x)` as a call of a function that it does not know."""
    try:
        (query,) = parse_tree(f"SELECT {name}(x) FROM s")
    except SqlglotError:
        return False
    call = query.expressions[0] if isinstance(query, exp.Select) else None
    return isinstance(call, exp.Anonymous) and call.name == name
