"""`@aggregate(returns=float)`: how users declare an aggregate, checked at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thalweg.algebra.expressions.user_aggregate import STEPS, UserAggregate
from thalweg.core.errors import PlanError, TypeMismatchError
from thalweg.core.python_values import PYTHON_TYPES
from thalweg.core.types import TYPE_NAMES, DataType

TypeLike = type | str | DataType  # float, "DOUBLE"


def aggregate(
    *, returns: TypeLike, takes: TypeLike | None = None, name: str | None = None, arrays: bool = False
) -> Callable[[Any], UserAggregate]:
    """Make a function, or a class or object with `zero`, `insert`, `delete` and `value`, an aggregate for queries.

    Types are Python's or CQL's names of them. Without `takes` any argument will do; with it an argument must be of the
    type, or a BIGINT where a DOUBLE is wanted. `arrays` asks for NumPy arrays instead of lists.

    >>> @aggregate(returns=float, takes=float)
    ... def spread(values):
    ...     return values[-1] - values[0]  # they are sorted
    >>> spread
    <aggregate SPREAD(DOUBLE): DOUBLE>
    """

    def declare(definition: Any) -> UserAggregate:
        called = name or str(getattr(definition, "__name__", type(definition).__name__))
        if not called.isidentifier():
            raise PlanError(f"an aggregate cannot be called {called}", hint='give it a name: @aggregate(name="...")')
        made = definition() if isinstance(definition, type) else definition
        _check_form(called, made)
        wanted = None if takes is None else _type(takes, f"the aggregate {called.upper()} cannot take")
        result = _type(returns, f"the aggregate {called.upper()} cannot return")
        return UserAggregate(called, made, wanted, result, arrays)

    return declare


def _check_form(name: str, definition: Any) -> None:
    has = [step for step in STEPS if hasattr(definition, step)]
    if not has and callable(definition):
        return
    if len(has) < len(STEPS):
        missing = ", ".join(step for step in STEPS if step not in has)
        raise PlanError(
            f"the aggregate {name.upper()} has no {missing}",
            hint="an aggregate is a function of the values, or has zero(), insert(state, value), delete(state, value), "
            "value(state)",
        )


def _type(declared: TypeLike, refusal: str) -> DataType:
    found: DataType | None = None
    if isinstance(declared, DataType):
        found = declared if declared is not DataType.NULL else None
    elif isinstance(declared, str):
        found = TYPE_NAMES.get(declared.upper())
    elif isinstance(declared, type):
        found = PYTHON_TYPES.get(declared)
    if found is None:
        shown = declared.__name__ if isinstance(declared, type) else str(declared)
        candidates = [f"{python.__name__} ({cql})" for python, cql in PYTHON_TYPES.items()]
        raise TypeMismatchError(f"{refusal} {shown}", candidates=candidates)
    return found
