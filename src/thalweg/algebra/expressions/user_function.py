"""Functions that users define in Python, for any place in a query where a value may stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from thalweg.algebra.expressions.user_values import WrongResultError, find_definition, read_result
from thalweg.core.errors import UserFunctionError
from thalweg.core.python_values import to_python
from thalweg.core.rows import Value
from thalweg.core.types import DataType


class UserFunction(str):
    """A user's function: a name that carries its definition, for `Call.function`. Made by `function(...)`.

    If any argument is NULL, the result is NULL and the definition is not called. The result must depend on the
    arguments alone: an engine may call the definition once for equal arguments, or several times, and for rows that
    another condition drops. `cost` is the cost of one call, in comparisons of numbers.
    """

    definition: Callable[..., Any]
    takes: tuple[DataType, ...]
    returns: DataType
    cost: float

    def __new__(
        cls, name: str, definition: Callable[..., Any], takes: Sequence[DataType], returns: DataType, cost: float
    ) -> UserFunction:
        """Called by `function(...)`, which checks the arguments."""
        made = super().__new__(cls, name.lower())
        made.definition, made.takes, made.returns, made.cost = definition, tuple(takes), returns, cost
        return made

    def of_values(self, *values: Value) -> Value:
        """The result for stored values, none of them NULL."""
        return self._result(*(to_python(type_, value) for type_, value in zip(self.takes, values, strict=True)))

    def of_columns(self, *columns: pa.Array) -> pa.Array:
        """The results for columns of arguments; the definition is called once for equal arguments."""
        rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
        known = {row: None if None in row else self._result(*row) for row in dict.fromkeys(rows)}
        plain = pa.array([known[row] for row in rows], _PLAIN.get(self.returns, self.returns.arrow))
        return plain.cast(self.returns.arrow)

    def _result(self, *args: Any) -> Value:
        try:
            result = self.definition(*args)
        except Exception as error:
            raise UserFunctionError(
                f"the function {self.upper()} raised {type(error).__name__} for {_shown(args)}: {error}",
                hint="return None where there is no value: None and NaN are NULL",
            ) from error
        try:
            return read_result(self.returns, result)
        except WrongResultError:
            raise UserFunctionError(
                f"the function {self.upper()} returns {self.returns}, but for {_shown(args)} it gave {result!r} "
                f"({type(result).__name__})",
                hint="convert the result, or declare another type: @function(returns=...)",
            ) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the decorated function, as without the decorator."""
        return self.definition(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<function {self.upper()}({', '.join(map(str, self.takes))}): {self.returns}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name if the name leads to this object, as functions are (a decorator hides the function)."""
        path = (getattr(self.definition, "__module__", ""), getattr(self.definition, "__qualname__", ""))
        if path[0] != "__main__" and find_definition(*path) is self:
            return find_definition, path
        return UserFunction, (str(self), self.definition, self.takes, self.returns, self.cost)


_PLAIN = {DataType.TIMESTAMP: pa.int64(), DataType.INTERVAL: pa.int64()}


def _shown(args: Sequence[Any]) -> str:
    return f"({', '.join(map(repr, args))})"
