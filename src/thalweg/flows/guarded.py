"""Guarded users' functions: an exception is recorded and the result is NULL, so that other queries go on."""

from __future__ import annotations

from typing import Any

from thalweg.algebra.expressions import Call, Case, Cast, Expression, UserFunction
from thalweg.core.errors import UserFunctionError


class _Guarded(UserFunction):
    """The same function, but it raises nothing."""

    raised: dict[str, Exception]

    def _result(self, *args: Any) -> Any:
        try:
            return super()._result(*args)
        except UserFunctionError as error:
            self.raised.setdefault(str(self), error)
            return None


class Guards:
    """Records which queries call which functions, and which exceptions these have raised."""

    def __init__(self) -> None:
        self._raised: dict[str, Exception] = {}
        self._callers: dict[str, set[str]] = {}

    def guard(self, query: str, expression: Expression) -> Expression:
        """A query's expression with its users' functions guarded."""
        match expression:
            case Call(function, args, type_):
                return Call(self._guarded(query, function), tuple(self.guard(query, a) for a in args), type_)
            case Case(branches, default, type_):
                whens = tuple((self.guard(query, c), self.guard(query, v)) for c, v in branches)
                return Case(whens, self.guard(query, default), type_)
            case Cast(operand, type_):
                return Cast(self.guard(query, operand), type_)
        return expression

    def _guarded(self, query: str, function: str) -> str:
        if not isinstance(function, UserFunction):
            return function
        self._callers.setdefault(str(function), set()).add(query)
        guarded = _Guarded(str(function), function.definition, function.takes, function.returns, function.cost)
        guarded.raised = self._raised
        return guarded

    def forget(self, query: str) -> None:
        """Remove a dropped query."""
        for callers in self._callers.values():
            callers.discard(query)

    def raised(self) -> dict[str, Exception]:
        """By query, the exception of a function that it calls; clears the record."""
        found = {query: error for name, error in self._raised.items() for query in sorted(self._callers[name])}
        self._raised.clear()
        return found
