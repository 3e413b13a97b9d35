"""S U nothing = S; S - nothing = S; nothing - S = S n nothing = nothing."""

from __future__ import annotations

from thalweg.algebra.plan import Intersect, Named, Negation, Plan, Project, Union
from thalweg.optimizer.columns import own
from thalweg.optimizer.nothing import is_nothing, nothing


def fold_nothing_in_sets(plan: Plan) -> Plan | None:
    """An input without tuples decides a union, a negation or an intersection."""
    match plan:
        case Union(left, right) if is_nothing(left):
            return _renamed(right, plan)
        case Union(left, right) | Negation(left, right) if is_nothing(right):
            return left
        case Negation(left) if is_nothing(left):
            return nothing(plan)
        case Intersect(left, right) if is_nothing(left) or is_nothing(right):
            return nothing(plan)
    return None


def _renamed(plan: Plan, like: Plan) -> Plan:
    """A plan under the column names of another."""
    names = like.schema.names
    return Project(
        plan, tuple(Named(item.expression, name) for item, name in zip(own(plan.schema), names, strict=True))
    )
