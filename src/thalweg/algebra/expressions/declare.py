"""`@aggregate(returns=float)` and `@function(...)`: how users declare aggregates and functions, checked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thalweg.algebra.expressions.user_aggregate import STEPS, UserAggregate
from thalweg.algebra.expressions.user_function import UserFunction
from thalweg.core.errors import PlanError, TypeMismatchError
from thalweg.core.python_values import PYTHON_TYPES
from thalweg.core.types import TYPE_NAMES, DataType

TypeLike = type | str | DataType  # float, "DOUBLE"


def aggregate(
    *, returns: TypeLike, takes: TypeLike | None = None, name: str | None = None, arrays: bool = False
) -> Callable[[Any], UserAggregate]:
    """Make a function, or a class or object with `zero`, `insert`, `delete` and `value`, an aggregate for queries.

    Types are Python's or CQL's names of them. Without `takes`, arguments of any type are accepted; with it, only
    that type, and BIGINT for DOUBLE. `arrays` asks for NumPy arrays instead of lists.

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


def function(
    *, returns: TypeLike, takes: TypeLike | Sequence[TypeLike], name: str | None = None, cost: float = 100.0
) -> Callable[[Callable[..., Any]], UserFunction]:
    """Make a Python function one of CQL's, for any place where a value may stand.

    `takes` are the types of its arguments; BIGINT is accepted for DOUBLE. `cost` is that of a call,
    in comparisons of numbers: predicates that cost much and drop little are applied late.

    >>> @function(returns=bool, takes=str)
    ... def palindrome(text):
    ...     return text == text[::-1]
    >>> palindrome
    <function PALINDROME(STRING): BOOLEAN>
    """

    def declare(definition: Callable[..., Any]) -> UserFunction:
        called = name or str(getattr(definition, "__name__", type(definition).__name__))
        if not called.isidentifier() or not callable(definition):
            raise PlanError(f"a function cannot be called {called}", hint='give it a name: @function(name="...")')
        listed = [takes] if isinstance(takes, type | str | DataType) else list(takes)
        wanted = [_type(each, f"the function {called.upper()} cannot take") for each in listed]
        result = _type(returns, f"the function {called.upper()} cannot return")
        return UserFunction(called, definition, wanted, result, cost)

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
