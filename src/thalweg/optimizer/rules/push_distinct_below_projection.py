"""delta(pi_L(S)) = pi_L(delta(S)) if L tells all rows of S apart that differ."""

from __future__ import annotations

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import Distinct, Join, JoinKind, Plan, Project
from thalweg.core.types import DataType
from thalweg.optimizer.columns import plain


def push_distinct_below_projection(plan: Plan) -> Plan | None:
    """Duplicate elimination moves on towards the joins.

    If every column of S is in L as it is, or equals one that is by the condition of an inner join. A double does not
    count: 0.0 equals -0.0.
    """
    match plan:
        case Distinct(Project(child, items)):
            known = set(plain(items))
            known |= _equated(child, known)
            return Project(Distinct(child), items) if len(known) == len(child.schema) else None
    return None


def _equated(plan: Plan, known: set[int]) -> set[int]:
    if not isinstance(plan, Join) or plan.kind is not JoinKind.INNER:
        return set()
    found: set[int] = set()
    for a, b in plan.equalities:
        if isinstance(a, Column) and isinstance(b, Column) and a.type is not DataType.DOUBLE:
            found |= {b.index} if a.index in known else set()
            found |= {a.index} if b.index in known else set()
    return found
