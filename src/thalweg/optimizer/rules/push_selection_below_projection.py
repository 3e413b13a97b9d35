"""sigma_p(pi_L(S)) = pi_L(sigma_{p over L}(S))."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Project, Select
from thalweg.optimizer.columns import through


def push_selection_below_projection(plan: Plan) -> Plan | None:
    """Rows are dropped before columns are computed. Always: scalars depend on the row alone, and have no effects."""
    match plan:
        case Select(Project(child, items), predicate):
            return Project(Select(child, through(predicate, items)), items)
    return None
