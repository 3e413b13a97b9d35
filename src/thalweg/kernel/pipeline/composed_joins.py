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
from thalweg.kernel.pipeline.builder import PipelineBuilder, columns
from thalweg.patterns import BufferKind, distinct_side


class JoinInput(NamedTuple):
    """An input of a join: the place of its node, whether it has no negative tuples, and the kind of its buffer."""

    place: int
    direct: bool
    kind: BufferKind


def join(builder: PipelineBuilder, left: JoinInput, right: JoinInput, condition: Expression, kind: JoinKind) -> int:
    """Add a join of any kind."""
    a, b = builder.schema(left.place), builder.schema(right.place)
    parts = [_inner(builder, left, right, condition)]
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        unmatched = semi_join(builder, left, right, condition, anti=True)
        parts.append(builder.project(unmatched, columns(a) + _nulls(b)))
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        unmatched = semi_join(builder, right, left, _swap(condition, len(a), len(b)), anti=True)
        parts.append(builder.project(unmatched, _nulls(a) + columns(b)))
    return parts[0] if len(parts) == 1 else builder.union(*parts)


def semi_join(builder: PipelineBuilder, left: JoinInput, right: JoinInput, condition: Expression, anti: bool) -> int:
    """Add a semi-join: the left tuples with a partner; with `anti` those without."""
    schema = builder.schema(left.place)
    pairs = equalities(condition, len(schema))
    by_key = len(pairs) == len(conjuncts(condition)) > 0
    joined = _by_key(builder, left, right, pairs) if by_key else _by_row(builder, left, right, condition)
    matched = builder.project(joined, columns(schema))
    return builder.minus(left.place, matched) if anti else matched


def _inner(
    builder: PipelineBuilder,
    left: JoinInput,
    right: JoinInput,
    condition: Expression,
    null_safe: Sequence[tuple[int, int]] = (),
    dates_from_left: bool = False,
) -> int:
    a, b = builder.schema(left.place), builder.schema(right.place)
    settings, dated = builder.settings, builder.dated

    def make(pool: StringPool) -> Join:
        buffers = make_buffer(left.kind, settings), make_buffer(right.kind, settings)
        return Join(
            a, b, condition, pool, dated,
            buffers=buffers, direct=(left.direct, right.direct), null_safe=null_safe, dates_from_left=dates_from_left,
            tuning=settings.tuning, most_results=settings.most_results,
        )  # fmt: skip

    return builder.add(a + b, make, left.place, right.place)


def _distinct(builder: PipelineBuilder, place: int, direct: bool) -> JoinInput:
    """Duplicate elimination, as an input of the next join."""
    uses_delta_star = direct and not builder.dated
    return JoinInput(builder.distinct(place, direct), uses_delta_star, distinct_side(uses_delta_star))


def _by_key(
    builder: PipelineBuilder, left: JoinInput, right: JoinInput, pairs: tuple[tuple[Expression, Expression], ...]
) -> int:
    """Each left tuple joined with its key, if the right side has the key."""
    width = len(builder.schema(left.place))
    keys = [Named(shift(key, -width), f"k{i}") for i, (_, key) in enumerate(pairs)]
    partners = _distinct(builder, builder.project(right.place, keys), right.direct)
    equal = and_([call("=", key, Column(width + i, key.type)) for i, (key, _) in enumerate(pairs)])
    return _inner(builder, left, partners, equal, dates_from_left=True)


def _by_row(builder: PipelineBuilder, left: JoinInput, right: JoinInput, condition: Expression) -> int:
    """Whether a left row has a partner depends on its values alone, so it is computed once for equal rows."""
    schema = builder.schema(left.place)
    values = _distinct(builder, left.place, left.direct)
    matched = builder.project(_inner(builder, values, right, condition), columns(schema))
    partners = _distinct(builder, matched, values.direct and right.direct)
    whole = [(i, i) for i in range(len(schema))]
    return _inner(builder, left, partners, TRUE, null_safe=whole, dates_from_left=True)


def _nulls(schema: Schema) -> list[Named]:
    return [Named(Literal(None, f.type), f.name) for f in schema]


def _swap(condition: Expression, left: int, right: int) -> Expression:
    """Renumber a condition over the columns of left and right for the columns of right and left."""

    def swapped(c: Column) -> Column:
        return Column(c.index + right if c.index < left else c.index - left, c.type, c.name)

    return map_columns(condition, swapped)
