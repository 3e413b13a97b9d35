"""Outer, semi and anti joins, composed of inner joins, duplicate elimination and signs.

L semi R        =  L |x| delta(pi_keys R)              if the condition is equalities only
                   L |x| delta(pi_L(delta(L) |x| R))   else, matched by whole rows
L anti R        =  L - (L semi R)
L left outer R  =  (L |x| R) + (L anti R) x NULLs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from thalweg.algebra.expressions import (
    TRUE,
    Column,
    Expression,
    Literal,
    and_,
    call,
    conjuncts,
    map_columns,
    shift,
)
from thalweg.algebra.plan import JoinKind, Named, equalities
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operators.join import Join
from thalweg.kernel.pipeline.buffers import make_buffer
from thalweg.kernel.pipeline.builder import Stages, columns
from thalweg.patterns import BufferKind, distinct_side


class Side(NamedTuple):
    """An input of a join: where it is produced, whether it comes without negative tuples, and how it is kept."""

    place: int
    direct: bool
    kind: BufferKind


def join(stages: Stages, left: Side, right: Side, condition: Expression, kind: JoinKind) -> int:
    """Any kind of join."""
    a, b = stages.schema(left.place), stages.schema(right.place)
    parts = [_inner(stages, left, right, condition)]
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        lonely = semi_join(stages, left, right, condition, anti=True)
        parts.append(stages.project(lonely, columns(a) + _nulls(b)))
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        lonely = semi_join(stages, right, left, _swap(condition, len(a), len(b)), anti=True)
        parts.append(stages.project(lonely, _nulls(a) + columns(b)))
    return parts[0] if len(parts) == 1 else stages.union(*parts)


def semi_join(stages: Stages, left: Side, right: Side, condition: Expression, anti: bool) -> int:
    """The left tuples with a partner; with `anti` those without."""
    schema = stages.schema(left.place)
    pairs = equalities(condition, len(schema))
    by_key = len(pairs) == len(conjuncts(condition)) > 0
    joined = _by_key(stages, left, right, pairs) if by_key else _by_row(stages, left, right, condition)
    met = stages.project(joined, columns(schema))
    return stages.minus(left.place, met) if anti else met


def _inner(
    stages: Stages,
    left: Side,
    right: Side,
    condition: Expression,
    null_safe: Sequence[tuple[int, int]] = (),
    dates_from_left: bool = False,
) -> int:
    a, b = stages.schema(left.place), stages.schema(right.place)
    settings, dated = stages.settings, stages.dated

    def make(pool: StringPool) -> Join:
        buffers = make_buffer(left.kind, settings), make_buffer(right.kind, settings)
        return Join(
            a, b, condition, pool, dated,
            buffers=buffers, direct=(left.direct, right.direct), null_safe=null_safe, dates_from_left=dates_from_left,
        )  # fmt: skip

    return stages.add(a + b, make, left.place, right.place)


def _distinct(stages: Stages, place: int, direct: bool) -> Side:
    """Each row once, as a side of the next join."""
    small = direct and not stages.dated
    return Side(stages.distinct(place, direct), small, distinct_side(small))


def _by_key(stages: Stages, left: Side, right: Side, pairs: tuple[tuple[Expression, Expression], ...]) -> int:
    """Each left tuple with the one tuple that stands for all partners with its key."""
    width = len(stages.schema(left.place))
    keys = [Named(shift(key, -width), f"k{i}") for i, (_, key) in enumerate(pairs)]
    partners = _distinct(stages, stages.project(right.place, keys), right.direct)
    equal = and_([call("=", mine, Column(width + i, mine.type)) for i, (mine, _) in enumerate(pairs)])
    return _inner(stages, left, partners, equal, dates_from_left=True)


def _by_row(stages: Stages, left: Side, right: Side, condition: Expression) -> int:
    """Which left rows have a partner depends on their values alone, so it is found out once per value."""
    schema = stages.schema(left.place)
    values = _distinct(stages, left.place, left.direct)
    met = stages.project(_inner(stages, values, right, condition), columns(schema))
    partners = _distinct(stages, met, values.direct and right.direct)
    whole = [(i, i) for i in range(len(schema))]
    return _inner(stages, left, partners, TRUE, null_safe=whole, dates_from_left=True)


def _nulls(schema: Schema) -> list[Named]:
    return [Named(Literal(None, f.type), f.name) for f in schema]


def _swap(condition: Expression, left: int, right: int) -> Expression:
    """A condition over left then right columns, as one over right then left."""

    def turned(c: Column) -> Column:
        return Column(c.index + right if c.index < left else c.index - left, c.type, c.name)

    return map_columns(condition, turned)
