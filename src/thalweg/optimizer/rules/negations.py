"""Rules that move a negation above a join, where it makes update patterns simpler, or back below.

Joins below a negation see no negative tuples: update pattern simplification (GolabOzsu2005 §5.4.2, figure 6).
"""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import Column, Expression, columns_of, map_columns
from thalweg.algebra.plan import Join, JoinKind, Negation, NrrJoin, Plan, SemiJoin
from thalweg.optimizer.keys import is_unique, partner_columns


def pull_anti_join_above_join(plan: Plan) -> Plan | None:
    """(S1 anti_J S2) |x| S3 = (S1 |x| S3) anti_J S2, on either side of the join.

    An anti-join (NOT EXISTS, NOT IN) drops a left row for its values alone, so it may do so before or after the row has
    met its partners. Above inner joins, semi-joins, and NRR joins, which take no negative tuples at all.
    """
    match plan:
        case Join(SemiJoin(anti=True) as anti, right, kind=JoinKind.INNER) | NrrJoin(
            SemiJoin(anti=True) as anti, right
        ):
            condition = _shifted(anti.condition, len(anti.schema), 0, len(right.schema))
            return SemiJoin(replace(plan, left=anti.left), anti.right, condition, anti=True)
        case Join(left, SemiJoin(anti=True) as anti, kind=JoinKind.INNER):
            condition = _shifted(anti.condition, len(anti.schema), len(left.schema), len(left.schema))
            return SemiJoin(replace(plan, right=anti.left), anti.right, condition, anti=True)
        case SemiJoin(SemiJoin(anti=True) as below, anti=False):
            return replace(below, left=replace(plan, left=below.left))
    return None


def pull_negation_above_join(plan: Plan) -> Plan | None:
    """(S1 -_A S2) |x| S3 = (S1 |x| S3) -_A S2 if A is a key of S1 and each row of S1 has at most one partner.

    The paper draws it for any negation, but equation 1 counts: with two left rows, one right row and two partners, the
    negation gives 2 results below the join and 3 above. Where a value of A has at most one left row, before and after
    the join, only the existence of a right row matters. Not EXCEPT ALL on whole rows: above the join it would compare
    some attributes only, and all operators would have to keep dates for it.
    """
    match plan:
        case Join(Negation(left, right, on) as negation, other, kind=JoinKind.INNER):
            _, compared = partner_columns(plan)
            if _has_single_left_rows(negation) and is_unique(other, compared):
                return Negation(replace(plan, left=left), right, on)
        case Join(other, Negation(left, right, on) as negation, kind=JoinKind.INNER):
            compared, _ = partner_columns(plan)
            if _has_single_left_rows(negation) and is_unique(other, compared):
                shifted = tuple((i + len(other.schema), j) for i, j in on)
                return Negation(replace(plan, right=left), right, shifted)
    return None


def _has_single_left_rows(negation: Negation) -> bool:
    """Whether the negation is on attributes, and each compared value has at most one left row."""
    return not negation.compares_rows and is_unique(negation.left, (i for i, _ in negation.on))


def push_anti_join_below_join(plan: Plan) -> Plan | None:
    """(S1 |x| S3) anti_J S2 = (S1 anti_J S2) |x| S3 if J reads columns of one side of the join only.

    The inverse of `pull_anti_join_above_join`; cheaper where the anti-join leaves few rows to join. For a negation with
    the counts of equation 1 it is not valid.
    """
    match plan:
        case SemiJoin(Join(left, right, kind=JoinKind.INNER) as join, other, condition, anti=True):
            first, width = len(left.schema), len(join.schema)
            read = {i for i in columns_of(condition) if i < width}
            if all(i < first for i in read):
                below = _shifted(condition, width, 0, first - width)
                return replace(join, left=SemiJoin(left, other, below, anti=True))
            if all(i >= first for i in read):
                below = _shifted(condition, width, -first, -first)
                return replace(join, right=SemiJoin(right, other, below, anti=True))
    return None


def _shifted(condition: Expression, width: int, left_by: int, right_by: int) -> Expression:
    """The condition with its first `width` columns moved by `left_by` positions, and the others by `right_by`."""
    return map_columns(
        condition, lambda c: Column(c.index + (left_by if c.index < width else right_by), c.type, c.name)
    )
