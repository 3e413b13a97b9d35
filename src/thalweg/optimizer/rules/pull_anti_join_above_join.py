"""(S1 anti_J S2) |x| S3 = (S1 |x| S3) anti_J S2, on either side of the join."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import Column, Expression, map_columns
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, SemiJoin


def pull_anti_join_above_join(plan: Plan) -> Plan | None:
    """Joins below a negation see no negative tuples: update pattern simplification (GolabOzsu2005 §5.4.2, figure 6).

    In its anti-join form (NOT EXISTS, NOT IN) a negation drops a left row for its values alone, so it may do so before
    or after the row has met its partners; with the counts of equation 1 it may not. Above inner joins, semi-joins and
    NRR joins, which take no negative tuples at all.
    """
    match plan:
        case Join(SemiJoin(anti=True) as anti, right, kind=JoinKind.INNER) | NrrJoin(
            SemiJoin(anti=True) as anti, right
        ):
            condition = _apart(anti.condition, len(anti.schema), 0, len(right.schema))
            return SemiJoin(replace(plan, left=anti.left), anti.right, condition, anti=True)
        case Join(left, SemiJoin(anti=True) as anti, kind=JoinKind.INNER):
            condition = _apart(anti.condition, len(anti.schema), len(left.schema), len(left.schema))
            return SemiJoin(replace(plan, right=anti.left), anti.right, condition, anti=True)
        case SemiJoin(SemiJoin(anti=True) as below, anti=False):
            return replace(below, left=replace(plan, left=below.left))
    return None


def _apart(condition: Expression, width: int, by: int, beyond: int) -> Expression:
    """A condition whose first `width` columns move on by `by`, and the others by `beyond`."""
    return map_columns(condition, lambda c: Column(c.index + (by if c.index < width else beyond), c.type, c.name))
