"""pi_L(S1 U S2) = pi_L(S1) U pi_L(S2)."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Project, Union


def push_projection_below_union(plan: Plan) -> Plan | None:
    """Each input computes its own columns, and what stands below may do without the others. Always."""
    match plan:
        case Project(Union(left, right), items):
            return Union(Project(left, items), Project(right, items))
    return None
