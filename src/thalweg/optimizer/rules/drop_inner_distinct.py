"""delta(pi(delta(S))) = delta(pi(S)); delta(delta(S1) U S2) = delta(S1 U S2); S1 semi delta(S2) = S1 semi S2."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Distinct, Plan, Project, Select, SemiJoin, Union


def drop_inner_distinct(plan: Plan) -> Plan | None:
    """Duplicates need not be eliminated for those who do not count them.

    Through projections, selections and unions: the latest of the latest appearances is the latest. The right side of a
    semi- or anti-join is only searched.
    """
    match plan:
        case Distinct(child):
            return Distinct(_with_duplicates(child))
        case SemiJoin(right=right):
            return replace(plan, right=_with_duplicates(right))
    return None


def _with_duplicates(plan: Plan) -> Plan:
    match plan:
        case Distinct(child):
            return _with_duplicates(child)
        case Project(child) | Select(child):
            return plan.with_children(_with_duplicates(child))
        case Union(left, right):
            return Union(_with_duplicates(left), _with_duplicates(right))
    return plan
