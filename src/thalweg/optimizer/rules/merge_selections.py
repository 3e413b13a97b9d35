"""sigma_p(sigma_q(S)) = sigma_{q AND p}(S)."""

from __future__ import annotations

from thalweg.algebra.expressions import call
from thalweg.algebra.plan import Plan, Select


def merge_selections(plan: Plan) -> Plan | None:
    """One selection instead of two. Always: a conjunction is true exactly where both parts are."""
    match plan:
        case Select(Select(child, below), above):
            return Select(child, call("and", below, above))
    return None
