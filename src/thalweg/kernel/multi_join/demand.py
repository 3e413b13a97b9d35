"""What a step of a walk asks of its results: a predicate, computed where there are fewest rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, UserFunction, columns_of, replace
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.multi_join.partial import Partial, Spread
from thalweg.kernel.sweep.evaluate import Condition, Evaluator

Place = tuple[int, int]  # an input and its column


@dataclass(frozen=True)
class _Known:
    """A part of a predicate that reads only inputs met before: one value for all partners of a partial result."""

    value: Evaluator
    reads: tuple[Place, ...]

    def of(self, partial: Partial) -> Lane:
        """Its values."""
        return partial.remembered(self, lambda: self.value([partial.lane(*at) for at in self.reads], len(partial))[0])


class Demand:
    """A predicate over inputs of which `new` is met last.

    With f(x, y) = g(h(x), y) and x met before, h is computed once for each partial result, g for each of its partners.
    Where h may raise it is not: nobody asked for its value if there are no partners.
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
        every: list[Place | _Known] = [
            *(_place(c, offsets) for c in range(len(schema))),
            *(_known(part, schema, offsets, pool) for part in parts),
        ]
        self._reads = [every[c] for c in self._condition.reads]

    def holds(self, partial: Partial, i: Ints, new: Spread) -> Flags:
        """Whether it does, for rows of a partial result with a tuple each of the new input."""
        return self._condition.holds_on([self._lane(at, partial, i, new) for at in self._reads], len(i))

    def _lane(self, at: Place | _Known, partial: Partial, i: Ints, new: Spread) -> Lane:
        # Of those met before, a lane is gathered once for all their partners: it is shorter.
        if isinstance(at, _Known):
            return at.of(partial).take(i)
        return new.lane(at[1]) if at[0] == self._new else partial.lane(*at).take(i)


def _known(part: Expression, schema: Schema, offsets: Sequence[int], pool: StringPool) -> _Known:
    columns = sorted(columns_of(part))
    moved = replace(part, lambda c: Column(columns.index(c.index), c.type, c.name) if isinstance(c, Column) else None)
    value = Evaluator([moved], Schema(tuple(schema[c] for c in columns)), pool)
    return _Known(value, tuple(_place(c, offsets) for c in columns))


def _place(column: int, offsets: Sequence[int]) -> Place:
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
    return False
