"""Aggregates that users define in Python, in the form that the algebra, the reference and all engines use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.algebra.expressions.user_values import WrongResultError, find_definition, read_result
from thalweg.core.errors import UserFunctionError
from thalweg.core.rows import Value
from thalweg.core.types import DataType

Values = npt.NDArray[
    Any
]  # sorted and without NULLs: int64, float64, bool, datetime64[us], timedelta64[us], or str objects
STEPS = ("zero", "insert", "delete", "value")  # the methods of the incremental form

_DTYPES: dict[DataType, str] = {
    DataType.BOOLEAN: "bool",
    DataType.BIGINT: "int64",
    DataType.DOUBLE: "float64",
    DataType.STRING: "object",
    DataType.TIMESTAMP: "datetime64[us]",
    DataType.INTERVAL: "timedelta64[us]",
}


@dataclass(frozen=True, repr=False, eq=False)
class UserAggregate:
    """A user's aggregate, `name(argument)`; made by `aggregate(...)`.

    The definition is a function of all values of a group, sorted, NULLs left out (retrospective, like MIN), or an
    object with `zero()`, `insert(state, value)`, `delete(state, value)` and `value(state)` (progressive, like SUM). The
    result must depend on the bag of values alone; then it is the same in every engine and order of arrival.
    `takes` is the type that arguments are converted to, None for any. With `arrays` a function gets a NumPy array, else
    a list.
    """

    name: str
    definition: Any = field(compare=False)  # not compared: in another process the name and types identify it
    takes: DataType | None
    returns: DataType
    arrays: bool = False

    def __post_init__(self) -> None:
        _ = self.over_nothing  # so that a wrong type is reported when the aggregate is declared

    @cached_property
    def is_incremental(self) -> bool:
        """Whether the definition has the incremental form: it updates a state for each value that comes or goes."""
        return all(hasattr(self.definition, step) for step in STEPS)

    @cached_property
    def over_nothing(self) -> Value:
        """The result over no values, from the definition; NULL if that raises."""
        try:
            if self.is_incremental:
                result = self.definition.value(self.definition.zero())
            else:
                result = self.definition(np.empty(0, _DTYPES[self.takes or DataType.DOUBLE]) if self.arrays else [])
        except Exception:  # a median or a greatest value of nothing: SQL's answer is NULL
            return None
        return self._read(result, 0)

    def over(self, values: Values) -> Value:
        """The result over a group's values."""
        count = len(values)
        if not count:
            return self.over_nothing
        if self.is_incremental:
            return self.value(self.moved(self.zero(), values.tolist(), [], count), count)
        given = values if self.arrays else values.tolist()
        return self._read(self._guarded(lambda: self.definition(given), count), count)

    # -- step by step

    def zero(self) -> Any:
        """The state over no values."""
        return self._guarded(lambda: self.definition.zero(), 0)

    def moved(self, state: Any, gained: Iterable[Any], lost: Iterable[Any], count: int) -> Any:
        """The state after values were added, and then others removed; `count` values are left."""

        def move() -> Any:
            moved = state
            for value in gained:
                moved = self.definition.insert(moved, value)
            for value in lost:
                moved = self.definition.delete(moved, value)
            return moved

        return self._guarded(move, count)

    def value(self, state: Any, count: int) -> Value:
        """The result of a state over `count` values."""
        if not count:
            return self.over_nothing
        return self._read(self._guarded(lambda: self.definition.value(state), count), count)

    # -- details

    def _guarded(self, compute: Callable[[], Any], count: int) -> Any:
        try:
            return compute()
        except Exception as error:
            raise UserFunctionError(
                f"the aggregate {self} raised {type(error).__name__} over {_counted(count)}: {error}",
                hint="return None where there is no value: None and NaN are NULL",
            ) from error

    def _read(self, result: Any, count: int) -> Value:
        """The result as a stored value."""
        try:
            return read_result(self.returns, result)
        except WrongResultError:
            raise UserFunctionError(
                f"the aggregate {self} returns {self.returns}, but over {_counted(count)} it gave"
                f" {result!r} ({type(result).__name__})",
                hint="convert the result, or declare another type: @aggregate(returns=...)",
            ) from None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the decorated function or class, as without the decorator."""
        return self.definition(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserAggregate):
            return NotImplemented
        return self._declared == other._declared and bool(self.definition == other.definition)

    def __hash__(self) -> int:
        return hash(self._declared)  # a definition need not be hashable

    @property
    def _declared(self) -> tuple[object, ...]:
        return self.name, self.takes, self.returns, self.arrays

    def __str__(self) -> str:
        return self.name.upper()

    def __repr__(self) -> str:
        return f"<aggregate {self}({self.takes or ''}): {self.returns}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name if the name leads to this object, as functions are (a decorator hides the function)."""
        named = self.definition if hasattr(self.definition, "__qualname__") else type(self.definition)
        path = (named.__module__, named.__qualname__)
        if path[0] != "__main__" and find_definition(*path) is self:
            return find_definition, path
        return UserAggregate, (self.name, self.definition, self.takes, self.returns, self.arrays)


def as_values(values: Iterable[Value], type_: DataType) -> Values:
    """Stored values, without NULLs, as arguments of a user's definition."""
    if type_ in (DataType.TIMESTAMP, DataType.INTERVAL):
        return np.array(list(values), dtype=np.int64).view(_DTYPES[type_])
    array = np.array(list(values), dtype=_DTYPES[type_])
    return array + 0.0 if type_ is DataType.DOUBLE else array  # zero has no sign


def _counted(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
