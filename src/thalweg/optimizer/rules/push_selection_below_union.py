"""sigma_p(S1 U S2) = sigma_p(S1) U sigma_p(S2)."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Select, Union


def push_selection_below_union(plan: Plan) -> Plan | None:
    """Each input drops its own rows (PatroumpasSellis2011 §5). Always: a union looks at no row."""
    match plan:
        case Select(Union(left, right), predicate):
            return Union(Select(left, predicate), Select(right, predicate))
    return None
