"""pi_{all columns}(S) = S."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Project
from thalweg.optimizer.columns import own


def drop_identity_projection(plan: Plan) -> Plan | None:
    """A projection that changes neither columns nor their names."""
    match plan:
        case Project(child, items) if items == own(child.schema):
            return child
    return None
