"""Predicates of a walk's steps; parts that read earlier inputs only are evaluated once for each partial result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, UserFunction, columns_of, replace
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.multi_join.partial import PartialResults, ScatteredRows
from thalweg.kernel.sweep.evaluate import Condition, Evaluator

InputColumn = tuple[int, int]  # an input and its column


@dataclass(frozen=True)
class _Known:
    """A part of a predicate that reads earlier inputs only: it has one value for all candidates of a partial result."""

    value: Evaluator
    reads: tuple[InputColumn, ...]

    def of(self, partial: PartialResults) -> Lane:
        """Its values, one for each partial result."""
        return partial.cached(self, lambda: self.value([partial.lane(*at) for at in self.reads], len(partial))[0])


class StepPredicate:
    """A predicate over inputs of which `new` is joined last.

    With f(x, y) = g(h(x), y) and x from earlier inputs, h is evaluated once for each partial result, and g for each
    of its candidates. If h may raise an error, it is evaluated with g: a partial result without candidates does not
    need its value.
    """

    def __init__(
        self, predicate: Expression, new: int, schema: Schema, offsets: Sequence[int], pool: StringPool
    ) -> None:
        self.predicate = predicate
        self._new = new
        own = range(offsets[new], offsets[new + 1])
        parts: dict[Expression, Column] = {}

        def known(part: Expression) -> Expression | None:
            reads = columns_of(part)
            if isinstance(part, Column) or not reads or not reads.isdisjoint(own) or _may_raise(part):
                return None
            return parts.setdefault(part, Column(len(schema) + len(parts), part.type, "known"))

        rest = replace(predicate, known)
        self.known = list(parts)
        wide = Schema((*schema, *(Field(f"known {i}", part.type) for i, part in enumerate(parts))))
        self._condition = Condition(rest, wide, pool)
        every: list[InputColumn | _Known] = [
            *(_place(c, offsets) for c in range(len(schema))),
            *(_known(part, schema, offsets, pool) for part in parts),
        ]
        self._reads = [every[c] for c in self._condition.reads]

    def holds(self, partial: PartialResults, i: Ints, new: ScatteredRows) -> Flags:
        """Where the predicate is true, for rows i of the partial results, each with a tuple of the new input."""
        return self._condition.holds_on([self._lane(at, partial, i, new) for at in self._reads], len(i))

    def _lane(self, at: InputColumn | _Known, partial: PartialResults, i: Ints, new: ScatteredRows) -> Lane:
        # A lane of an earlier input is gathered once for all candidates, because partial results are fewer.
        if isinstance(at, _Known):
            return at.of(partial).take(i)
        return new.lane(at[1]) if at[0] == self._new else partial.lane(*at).take(i)


def _known(part: Expression, schema: Schema, offsets: Sequence[int], pool: StringPool) -> _Known:
    columns = sorted(columns_of(part))
    moved = replace(part, lambda c: Column(columns.index(c.index), c.type, c.name) if isinstance(c, Column) else None)
    value = Evaluator([moved], Schema(tuple(schema[c] for c in columns)), pool)
    return _Known(value, tuple(_place(c, offsets) for c in columns))


def _place(column: int, offsets: Sequence[int]) -> InputColumn:
    input_ = max(i for i, offset in enumerate(offsets[:-1]) if offset <= column)
    return input_, column - offsets[input_]


def _may_raise(expression: Expression) -> bool:
    match expression:
        case Call(function, args):
            return isinstance(function, UserFunction) or any(map(_may_raise, args))
        case Case(branches, default):
            return _may_raise(default) or any(_may_raise(part) for branch in branches for part in branch)
        case Cast(operand):
            return _may_raise(operand)
        case Column() | Literal():
            return False
        case _:
            assert_never(expression)
