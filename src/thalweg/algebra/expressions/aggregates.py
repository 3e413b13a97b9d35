"""Aggregate functions: COUNT SUM AVG (progressive), MIN MAX (retrospective), deviations. PatroumpasSellis2011 §4.2.

Users add their own, of either kind; see `user_aggregate.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.algebra.expressions.build import coerce
from thalweg.algebra.expressions.nodes import Expression
from thalweg.algebra.expressions.user_aggregate import UserAggregate
from thalweg.core.errors import TypeMismatchError
from thalweg.core.types import DataType, common_type

_NUMERIC = (DataType.BIGINT, DataType.DOUBLE)

# Function -> {argument type: result type}; an absent argument type is refused.
AGGREGATES: dict[str, dict[DataType, DataType]] = {
    "count": dict.fromkeys(DataType, DataType.BIGINT),
    "sum": {t: t for t in (*_NUMERIC, DataType.INTERVAL)},
    "avg": {**dict.fromkeys(_NUMERIC, DataType.DOUBLE)},
    "min": {t: t for t in DataType if t is not DataType.NULL},
    "max": {t: t for t in DataType if t is not DataType.NULL},
    "stddev": dict.fromkeys(_NUMERIC, DataType.DOUBLE),
    "stddev_pop": dict.fromkeys(_NUMERIC, DataType.DOUBLE),
    "variance": dict.fromkeys(_NUMERIC, DataType.DOUBLE),
    "var_pop": dict.fromkeys(_NUMERIC, DataType.DOUBLE),
}


@dataclass(frozen=True)
class Aggregate:
    """`function([DISTINCT] argument)`; COUNT(*) has no argument. NULL arguments are skipped."""

    function: str
    argument: Expression | None
    distinct: bool
    type: DataType
    user: UserAggregate | None = None  # the user's definition, if it is none of the engine's functions

    @staticmethod
    def of(function: str | UserAggregate, argument: Expression | None = None, distinct: bool = False) -> Aggregate:
        """The aggregate, with its argument's type checked."""
        if argument is None:
            if function != "count":
                raise TypeMismatchError(f"{str(function).upper()}(*) has no meaning", hint="only COUNT takes *")
            return Aggregate("count", None, False, DataType.BIGINT)
        if isinstance(function, UserAggregate):
            return Aggregate(function.name, _fitted(argument, function), distinct, function.returns, function)
        results = AGGREGATES[function]
        if argument.type is DataType.NULL and function != "count":
            argument = coerce(argument, DataType.BIGINT)
        if argument.type not in results:
            raise TypeMismatchError(f"{function.upper()} does not take {argument.type}", candidates=map(str, results))
        return Aggregate(function, argument, distinct, results[argument.type])

    @property
    def is_progressive(self) -> bool:
        """Whether the engine can subtract a tuple that leaves, without looking at the tuples that stay."""
        return self.function not in ("min", "max") and not self.distinct and self.user is None

    def __str__(self) -> str:
        inner = "*" if self.argument is None else str(self.argument)
        return f"{self.function.upper()}({'DISTINCT ' if self.distinct else ''}{inner})"


def _fitted(argument: Expression, user: UserAggregate) -> Expression:
    """The argument as the user's aggregate takes it: BIGINT passes for DOUBLE, NULL for anything."""
    wanted = user.takes or (DataType.BIGINT if argument.type is DataType.NULL else argument.type)
    if common_type(argument.type, wanted) is not wanted:
        raise TypeMismatchError(f"{user} does not take {argument.type}", candidates=[str(wanted)])
    return coerce(argument, wanted)
