"""gamma_{K; A}(pi_L(S)) = gamma_{K over L; A over L}(S)."""

from __future__ import annotations

from thalweg.algebra.plan import GroupBy, Plan, Project
from thalweg.optimizer.columns import through
from thalweg.optimizer.expressions import with_expressions


def merge_projection_into_group_by(plan: Plan) -> Plan | None:
    """A group-by computes its keys and arguments itself, so that a projection below it is one too many. Always."""
    match plan:
        case GroupBy(Project(child, items)):
            return with_expressions(plan, lambda e: through(e, items), child)
    return None
