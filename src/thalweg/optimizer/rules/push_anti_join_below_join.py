"""(S1 |x| S3) anti_J S2 = (S1 anti_J S2) |x| S3 for J over one side of the join."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import Column, columns_of, map_columns
from thalweg.algebra.plan import Join, JoinKind, Plan, SemiJoin


def push_anti_join_below_join(plan: Plan) -> Plan | None:
    """The way back from `pull_anti_join_above_join`: cheaper where the negation leaves few rows to join.

    If J reads the columns of one side only; with the counts of equation 1 it is no equivalence.
    """
    match plan:
        case SemiJoin(Join(left, right, kind=JoinKind.INNER) as join, other, condition, anti=True):
            first, width = len(left.schema), len(join.schema)
            read = {i for i in columns_of(condition) if i < width}
            if all(i < first for i in read):
                moved = map_columns(condition, lambda c: _less(c, width, 0, width - first))
                return replace(join, left=SemiJoin(left, other, moved, anti=True))
            if all(i >= first for i in read):
                moved = map_columns(condition, lambda c: _less(c, width, first, first))
                return replace(join, right=SemiJoin(right, other, moved, anti=True))
    return None


def _less(c: Column, width: int, mine: int, theirs: int) -> Column:
    return Column(c.index - (mine if c.index < width else theirs), c.type, c.name)
