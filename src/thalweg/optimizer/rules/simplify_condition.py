"""sigma_{a > 3 AND a > 5} = sigma_{a > 5}; sigma_{a = 1 AND a = 2} = sigma_FALSE; sigma_{p AND (p OR q)} = sigma_p."""

from __future__ import annotations

from thalweg.algebra.plan import Plan
from thalweg.optimizer.conditions import simplify
from thalweg.optimizer.expressions import with_condition


def simplify_condition(plan: Plan) -> Plan | None:
    """Duplicates, contradictions and parts that others imply are left out.

    Conditions of selections and joins only: there NULL drops a row as FALSE does. A projected `a <> a` is NULL for
    NULL, and must stay.
    """
    return with_condition(plan, simplify)
