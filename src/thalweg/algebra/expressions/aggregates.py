"""Aggregate functions: COUNT SUM AVG (progressive), MIN MAX (retrospective), deviations. Seed 002, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.algebra.expressions.build import coerce
from thalweg.algebra.expressions.nodes import Expression
from thalweg.core.errors import TypeMismatchError
from thalweg.core.types import DataType

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

    @staticmethod
    def of(function: str, argument: Expression | None = None, distinct: bool = False) -> Aggregate:
        """The aggregate, with its argument's type checked."""
        results = AGGREGATES[function]
        if argument is None:
            if function != "count":
                raise TypeMismatchError(f"{function.upper()}(*) has no meaning", hint="only COUNT takes *")
            return Aggregate(function, None, False, DataType.BIGINT)
        if argument.type is DataType.NULL and function != "count":
            argument = coerce(argument, DataType.BIGINT)
        if argument.type not in results:
            raise TypeMismatchError(f"{function.upper()} does not take {argument.type}", candidates=map(str, results))
        return Aggregate(function, argument, distinct, results[argument.type])

    @property
    def is_progressive(self) -> bool:
        """Whether a leaving tuple can be subtracted, without looking at those that stay."""
        return self.function not in ("min", "max") and not self.distinct

    def __str__(self) -> str:
        inner = "*" if self.argument is None else str(self.argument)
        return f"{self.function.upper()}({'DISTINCT ' if self.distinct else ''}{inner})"
