"""sigma_p(delta(S)) = delta(sigma_p(S))."""

from __future__ import annotations

from thalweg.algebra.plan import Distinct, Plan, Select
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_distinct(plan: Plan) -> Plan | None:
    """Fewer values to eliminate the duplicates of. A predicate treats all copies of a row alike.

    Not where it could tell 0.0 from -0.0, of which DISTINCT shows one.
    """
    match plan:
        case Select(Distinct(child), predicate) if not tells_zeros_apart(predicate):
            return Distinct(Select(child, predicate))
    return None
