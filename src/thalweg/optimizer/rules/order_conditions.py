"""p AND q = q AND p, (b > a) = (a < b): one spelling for what means the same."""

from __future__ import annotations

from thalweg.algebra.plan import Plan
from thalweg.optimizer.conditions import ordered
from thalweg.optimizer.expressions import with_expressions


def order_conditions(plan: Plan) -> Plan | None:
    """Sub-plans that differ in the order of words become equal, and equal sub-plans are run once. Always."""
    return with_expressions(plan, ordered)
