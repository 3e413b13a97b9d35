"""Questions about a plan that decide between operators."""

from __future__ import annotations

from thalweg.algebra.plan import (
    Distinct,
    Join,
    JoinKind,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow


def needs_dates(plan: Plan) -> bool:
    """Whether some operator looks at `ts` or `exp`: an NRR join, a negation on attributes, RSTREAM."""
    return any(
        isinstance(node, NrrJoin | RStream) or (isinstance(node, Negation) and not node.compares_rows)
        for node in plan.walk()
    )


def keeps_arrival_order(plan: Plan) -> bool:
    """Whether a stream's tuples come in the order in which they arrived (docs/semantics.md, "Windows")."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return isinstance(plan, StreamScan)


def is_selected_window(plan: Plan) -> bool:
    """Whether the plan is a window, perhaps selected and projected: only what qualifies need ever expire."""
    return isinstance(window_of(plan), Windowed)


def window_of(plan: Plan) -> Plan:
    """What is below selections and projections."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return plan


def is_direct(plan: Plan) -> bool:
    """Whether the output has no negative tuples: every result says on arrival when it ends."""
    match plan:
        case StreamScan():
            return True
        case Windowed(child, window):
            return isinstance(window, LogicalWindow) and is_direct(child)
        case Select(child) | Project(child) | Distinct(child):
            return is_direct(child)
        case Union(left, right):
            return is_direct(left) and is_direct(right)
        case Join(left, right, _, kind):
            return kind is JoinKind.INNER and is_direct(left) and is_direct(right)
        case SemiJoin(left, right, _, anti):
            return not anti and is_direct(left) and is_direct(right)
    return False
