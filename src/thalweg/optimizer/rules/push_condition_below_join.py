"""S1 |x|_{J AND F1 AND F2} S2 = sigma_F1(S1) |x|_J sigma_F2(S2) for F1 over S1 alone and F2 over S2 alone."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import and_, shift
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, SemiJoin
from thalweg.optimizer.columns import selected, split


def push_condition_below_join(plan: Plan) -> Plan | None:
    """Rows that can have no partner are dropped before the join keeps them.

    PatroumpasSellis2011 §5 writes one F on both sides; each part goes to the side whose columns it reads, and a part
    over both stays. Only to a side whose rows do not survive without a partner: both sides of an inner and of a
    semi-join, the right one of a LEFT, an anti- or an NRR LEFT join, the left one of a RIGHT join, none of a FULL join.
    """
    if not isinstance(plan, Join | SemiJoin | NrrJoin):
        return None
    left_goes, right_goes = losing_sides(plan)
    width = len(plan.left.schema)
    left, rest = split(plan.condition, lambda read: left_goes and max(read) < width)
    right, stay = split(and_(rest), lambda read: right_goes and min(read) >= width)
    if not left and not right:
        return None
    below = selected(plan.right, [shift(part, -width) for part in right])
    return replace(plan, left=selected(plan.left, left), right=below, condition=and_(stay))


def losing_sides(plan: Join | SemiJoin | NrrJoin) -> tuple[bool, bool]:
    """Whether the left and the right side lose the rows that have no partner."""
    if isinstance(plan, SemiJoin):
        return not plan.anti, True
    return plan.kind in (JoinKind.INNER, JoinKind.RIGHT), plan.kind in (JoinKind.INNER, JoinKind.LEFT)
