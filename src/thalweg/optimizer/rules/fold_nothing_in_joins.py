"""S |x| nothing = nothing; S =|x| nothing = S x NULLs; S semi nothing = nothing; S anti nothing = S."""

from __future__ import annotations

from thalweg.algebra.expressions import FALSE
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, Project, SemiJoin
from thalweg.optimizer.columns import nulls, own
from thalweg.optimizer.nothing import is_nothing, nothing


def fold_nothing_in_joins(plan: Plan) -> Plan | None:
    """A side without tuples, or a condition that is never true, leaves the rows that survive without a partner."""
    match plan:
        case SemiJoin(left, right, condition, anti):
            if is_nothing(left) or ((is_nothing(right) or condition == FALSE) and not anti):
                return nothing(plan)
            return left if is_nothing(right) or condition == FALSE else None
        case Join(left, right, condition, kind) | NrrJoin(left, right, condition, kind):
            no_left, no_right = is_nothing(left), is_nothing(right)
            if not (no_left or no_right or condition == FALSE):
                return None
            lefts = kind in (JoinKind.LEFT, JoinKind.FULL) and not no_left
            rights = kind in (JoinKind.RIGHT, JoinKind.FULL) and not no_right
            return _survivors(plan, left, right, lefts, rights)
    return None


def _survivors(plan: Plan, left: Plan, right: Plan, lefts: bool, rights: bool) -> Plan | None:
    match lefts, rights:
        case True, True:  # a FULL join on FALSE: a union of two projections would be no cheaper
            return None
        case True, False:
            return Project(left, own(left.schema) + nulls(right.schema))
        case False, True:
            return Project(right, nulls(left.schema) + own(right.schema))
    return nothing(plan)
