"""sigma_p(ISTREAM(R)) = ISTREAM(sigma_p(R)), and the same for DSTREAM."""

from __future__ import annotations

from thalweg.algebra.plan import DStream, IStream, Plan, Select
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_changes(plan: Plan) -> Plan | None:
    """What is never shown need not be followed. The bag difference of two instants is taken row by row.

    Not RSTREAM: it speaks when anything in R changes, also a row that the selection drops.
    """
    match plan:
        case Select(IStream(child) | DStream(child) as changes, predicate) if not tells_zeros_apart(predicate):
            return changes.with_children(Select(child, predicate))
    return None
