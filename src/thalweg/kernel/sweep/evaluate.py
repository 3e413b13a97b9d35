"""Scalar expressions over lanes. Arrow evaluates them; only the lanes that an expression reads are converted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.algebra.expressions import Column, Expression, columns_of, map_columns
from thalweg.algebra.expressions.vectorise import compile_expression
from thalweg.core.lanes import Flags, Lane, from_lane, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType

_Lanes = Sequence[Lane]


class Evaluator:
    """Expressions over rows of `schema`: lanes in, one lane per expression out.

    A column passes through unchanged; an expression that reads no column is evaluated once.
    """

    def __init__(self, expressions: Sequence[Expression], schema: Schema, pool: StringPool) -> None:
        computed = [e for e in expressions if not isinstance(e, Column) and columns_of(e)]
        self._reads = _Reads(computed, schema, pool)
        self._parts = [self._part(e, pool) for e in expressions]

    def __call__(self, columns: _Lanes, rows: int) -> tuple[Lane, ...]:
        """The values of the expressions, given all columns of the input."""
        arrays = self._reads.arrays([columns[i] for i in self._reads.columns])
        return tuple(part(columns, arrays, rows) for part in self._parts)

    def _part(self, expression: Expression, pool: StringPool) -> Callable[[_Lanes, list[pa.Array], int], Lane]:
        if isinstance(expression, Column):
            index = expression.index
            return lambda columns, arrays, rows: columns[index]
        type_ = expression.type
        if not columns_of(expression):
            constant = _Constant(compile_expression(expression)([], 1), type_, pool)
            return lambda columns, arrays, rows: np.full(rows, constant.value())
        computed = compile_expression(self._reads.renumber(expression))
        return lambda columns, arrays, rows: to_lane(computed(arrays, rows), type_, pool)


class _Constant:
    """A constant in a lane. The code of a string is asked for again when the pool may have given it to another one."""

    def __init__(self, array: pa.Array, type_: DataType, pool: StringPool) -> None:
        self._array, self._type, self._pool = array, type_, pool
        self._value: Any = None
        self._version = -1

    def value(self) -> Any:
        """The constant as lanes have it."""
        if self._version != self._pool.version:
            self._value, self._version = to_lane(self._array, self._type, self._pool)[0], self._pool.version
        return self._value


class Condition:
    """A condition over rows of `schema`; `reads` are the columns that it needs."""

    def __init__(self, condition: Expression, schema: Schema, pool: StringPool) -> None:
        self._reads = _Reads([condition], schema, pool)
        self._compiled = compile_expression(self._reads.renumber(condition))
        self.reads: tuple[int, ...] = self._reads.columns

    def holds(self, columns: _Lanes, rows: int) -> Flags:
        """Where the condition is true (not false and not NULL), given all columns of the input."""
        return self.holds_on([columns[i] for i in self.reads], rows)

    def holds_on(self, lanes: _Lanes, rows: int) -> Flags:
        """Where the condition is true, given only the lanes of `reads`, in that order."""
        truth = self._compiled(self._reads.arrays(lanes), rows)
        if truth.null_count:
            truth = truth.fill_null(False)
        return np.asarray(truth.to_numpy(zero_copy_only=False), dtype=np.bool_)


class _Reads:
    """The columns that some expressions read; each is converted once for all expressions."""

    def __init__(self, expressions: Sequence[Expression], schema: Schema, pool: StringPool) -> None:
        self.columns = tuple(sorted(frozenset().union(*map(columns_of, expressions))))
        self._types: list[DataType] = [schema[i].type for i in self.columns]
        self._place = {index: place for place, index in enumerate(self.columns)}
        self._pool = pool

    def renumber(self, expression: Expression) -> Expression:
        """The expression with column numbers that count these columns only."""
        return map_columns(expression, lambda c: Column(self._place[c.index], c.type, c.name))

    def arrays(self, lanes: _Lanes) -> list[pa.Array]:
        """The lanes of these columns as Arrow arrays."""
        return [from_lane(lane, type_, self._pool) for lane, type_ in zip(lanes, self._types, strict=True)]
