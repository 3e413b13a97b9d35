"""S1 |x| S2 = S2 |x| S1, but for the order of columns."""

from __future__ import annotations

from thalweg.algebra.expressions import Column, column, map_columns
from thalweg.algebra.plan import Join, JoinKind, Named, Plan, Project

_MIRRORED = {JoinKind.LEFT: JoinKind.RIGHT, JoinKind.RIGHT: JoinKind.LEFT}


def commute_join(plan: Plan) -> Plan | None:
    """Joins of windows are commutative (PatroumpasSellis2011 §5), of any windows: dates are the later and the earlier.

    LEFT becomes RIGHT. A projection puts the columns back in their order.
    """
    if not isinstance(plan, Join):
        return None
    left, right = len(plan.left.schema), len(plan.right.schema)

    def turned(index: int) -> int:
        return index + right if index < left else index - left

    condition = map_columns(plan.condition, lambda c: Column(turned(c.index), c.type, c.name))
    other = Join(plan.right, plan.left, condition, _MIRRORED.get(plan.kind, plan.kind))
    items = (Named(column(other.schema, turned(i)), field.name) for i, field in enumerate(plan.schema))
    return Project(other, tuple(items))
