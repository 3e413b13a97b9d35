"""sigma_p(S1 n S2) = sigma_p(S1) n sigma_p(S2)."""

from __future__ import annotations

from thalweg.algebra.plan import Intersect, Plan, Select
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_intersection(plan: Plan) -> Plan | None:
    """Both sides drop whole rows, and whole rows are what an intersection counts."""
    match plan:
        case Select(Intersect(left, right), predicate) if not tells_zeros_apart(predicate):
            return Intersect(Select(left, predicate), Select(right, predicate))
    return None
