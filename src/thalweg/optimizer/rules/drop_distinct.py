"""delta(S) = S if S has no duplicates."""

from __future__ import annotations

from thalweg.algebra.plan import Distinct, Plan
from thalweg.optimizer.keys import keys


def drop_distinct(plan: Plan) -> Plan | None:
    """No state for what cannot happen: some columns tell all rows apart already.

    Known of groups, DISTINCT, primary keys, `[PARTITION BY k ROWS 1]` and what joins, selections and projections make
    of them. The dates are those of the only copy.
    """
    match plan:
        case Distinct(child) if keys(child):
            return child
    return None
