"""delta(pi(delta(S))) = delta(pi(S)); delta(delta(S1) U S2) = delta(S1 U S2); S1 semi delta(S2) = S1 semi S2."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Distinct, Intersect, Negation, Plan, Project, Select, SemiJoin, Union
from thalweg.optimizer.keys import is_unique, keys


def drop_inner_distinct(plan: Plan) -> Plan | None:
    """Duplicates need not be eliminated for those who do not count them.

    Through projections, selections and unions: the latest of the latest appearances is the latest. The right side of a
    semi- or anti-join is only searched; that of a negation or an intersection is not counted further than to one where
    each value has one left row at most, as in EXCEPT and INTERSECT.
    """
    match plan:
        case Distinct(child):
            return Distinct(_with_duplicates(child))
        case SemiJoin(right=right):
            return replace(plan, right=_with_duplicates(right))
        case Negation(left, right, on) if is_unique(left, (i for i, _ in on)):
            return replace(plan, right=_with_duplicates(right))
        case Intersect(left, right) if keys(left):
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
