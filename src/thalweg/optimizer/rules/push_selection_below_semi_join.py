"""sigma_p(S1 semi S2) = sigma_p(S1) semi S2, and the same for anti."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Plan, Select, SemiJoin


def push_selection_below_semi_join(plan: Plan) -> Plan | None:
    """Left rows are dropped before they look for partners. Always: both tests look at the left row alone."""
    match plan:
        case Select(SemiJoin() as join, predicate):
            return replace(join, left=Select(join.left, predicate))
    return None
