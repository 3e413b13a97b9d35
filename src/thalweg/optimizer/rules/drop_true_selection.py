"""sigma_TRUE(S) = S."""

from __future__ import annotations

from thalweg.algebra.expressions import TRUE
from thalweg.algebra.plan import Plan, Select


def drop_true_selection(plan: Plan) -> Plan | None:
    """A selection that keeps everything."""
    match plan:
        case Select(child, predicate) if predicate == TRUE:
            return child
    return None
