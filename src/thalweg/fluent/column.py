"""`col("a") > 1`: expressions in Python, as PySpark users write them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlglot import exp

from thalweg.algebra.expressions import UserAggregate
from thalweg.core.errors import TypeMismatchError
from thalweg.core.time import format_timestamp, from_datetime


class Col:
    """An expression that has not met its table yet. Comparison and arithmetic build larger ones."""

    __hash__ = None  # type: ignore[assignment]  # == builds an expression, so a Col cannot be a key

    def __init__(self, node: exp.Expr) -> None:
        self.node = node

    def _with(self, kind: type[exp.Binary], other: Any, flipped: bool = False) -> Col:
        left, right = _paren(self.node), _paren(lit(other).node)
        return Col(kind(this=right, expression=left) if flipped else kind(this=left, expression=right))

    def __add__(self, other: Any) -> Col:
        return self._with(exp.Add, other)

    def __radd__(self, other: Any) -> Col:
        return self._with(exp.Add, other, flipped=True)

    def __sub__(self, other: Any) -> Col:
        return self._with(exp.Sub, other)

    def __rsub__(self, other: Any) -> Col:
        return self._with(exp.Sub, other, flipped=True)

    def __mul__(self, other: Any) -> Col:
        return self._with(exp.Mul, other)

    def __rmul__(self, other: Any) -> Col:
        return self._with(exp.Mul, other, flipped=True)

    def __truediv__(self, other: Any) -> Col:
        return self._with(exp.Div, other)

    def __mod__(self, other: Any) -> Col:
        return self._with(exp.Mod, other)

    def __neg__(self) -> Col:
        return Col(exp.Neg(this=_paren(self.node)))

    def __eq__(self, other: object) -> Col:  # type: ignore[override]
        return self._with(exp.EQ, other)

    def __ne__(self, other: object) -> Col:  # type: ignore[override]
        return self._with(exp.NEQ, other)

    def __lt__(self, other: Any) -> Col:
        return self._with(exp.LT, other)

    def __le__(self, other: Any) -> Col:
        return self._with(exp.LTE, other)

    def __gt__(self, other: Any) -> Col:
        return self._with(exp.GT, other)

    def __ge__(self, other: Any) -> Col:
        return self._with(exp.GTE, other)

    def __and__(self, other: Any) -> Col:
        return self._with(exp.And, other)

    def __or__(self, other: Any) -> Col:
        return self._with(exp.Or, other)

    def __invert__(self) -> Col:
        return Col(exp.Not(this=_paren(self.node)))

    def __bool__(self) -> bool:
        raise TypeMismatchError(
            "a column expression has no truth value in Python", hint="use & | ~ instead of and, or, not"
        )

    def alias(self, name: str) -> Col:
        """The expression under another name."""
        return Col(exp.Alias(this=self.node, alias=exp.to_identifier(name)))

    def cast(self, type_name: str) -> Col:
        """CAST(... AS type_name)."""
        return Col(exp.Cast(this=self.node, to=exp.DataType.build(type_name)))

    def is_null(self) -> Col:
        """IS NULL."""
        return Col(exp.Is(this=_paren(self.node), expression=exp.Null()))

    def is_in(self, *values: Any) -> Col:
        """IN (values)."""
        return Col(exp.In(this=_paren(self.node), expressions=[lit(v).node for v in values]))

    def like(self, pattern: str) -> Col:
        """LIKE pattern."""
        return self._with(exp.Like, pattern)

    def desc(self) -> Col:
        """For `order_by`: the greatest first."""
        return Col(exp.Ordered(this=self.node, desc=True))

    def __repr__(self) -> str:
        return f"col[{self.node.sql()}]"


def col(name: str) -> Col:
    """The column `name`, or `table.name`."""
    table, _, column = name.rpartition(".")
    return Col(exp.column(column, table=table or None))


def call(function: str | UserAggregate, *args: Any, distinct: bool = False) -> Col:
    """`function(args)`: a function or aggregate, also a registered one of your own; `distinct` is for aggregates."""
    nodes = [lit(arg).node for arg in args]
    name = function if isinstance(function, str) else function.name
    return Col(exp.Anonymous(this=name, expressions=[exp.Distinct(expressions=nodes)] if distinct else nodes))


def lit(value: Any) -> Col:
    """A constant (a `Col` stays what it is)."""
    match value:
        case Col():
            return value
        case datetime():
            text = exp.Literal.string(format_timestamp(from_datetime(value)))
            return Col(exp.Cast(this=text, to=exp.DataType.build("TIMESTAMP")))
        case timedelta():
            micros = value // timedelta(microseconds=1)
            return Col(exp.Interval(this=exp.Literal.string(str(micros)), unit=exp.Var(this="MICROSECONDS")))
        case int() | float() if not isinstance(value, bool) and value < 0:
            return Col(exp.Neg(this=exp.Literal.number(-value)))
    return Col(exp.convert(value))


def _paren(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Not) else node
