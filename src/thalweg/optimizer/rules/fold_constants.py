"""f(c1, c2) = c, x AND TRUE = x, NOT (a < b) = (a >= b): what does not depend on the row is worked out once."""

from __future__ import annotations

from thalweg.algebra.plan import Plan
from thalweg.optimizer.conditions import fold
from thalweg.optimizer.expressions import with_expressions


def fold_constants(plan: Plan) -> Plan | None:
    """Always, in projections and aggregates too: the value stays the same for every row, NULL included."""
    return with_expressions(plan, fold)
