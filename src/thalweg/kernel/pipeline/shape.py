"""Questions about a plan that decide between operators."""

from __future__ import annotations

from thalweg.algebra.plan import (
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
from thalweg.algebra.windows import LogicalWindow, Range


def needs_dates(plan: Plan) -> bool:
    """Whether some operator looks at `ts` or `exp`: an NRR join, a negation on attributes, RSTREAM."""
    return any(
        isinstance(node, NrrJoin | RStream) or (isinstance(node, Negation) and not node.compares_rows)
        for node in plan.walk()
    )


def deletes_early(plan: Plan) -> bool:
    """Whether an operator takes back results that have an end of their own: a negation, or NOT EXISTS."""
    return isinstance(plan, Negation) or (isinstance(plan, SemiJoin) and plan.anti)


def is_selected_window(plan: Plan) -> bool:
    """Whether the plan is a window, perhaps selected and projected: only what qualifies need ever expire."""
    return isinstance(window_of(plan), Windowed)


def window_of(plan: Plan) -> Plan:
    """What is below selections and projections."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return plan


def remembers_nothing(plan: Plan) -> bool:
    """Whether what the plan gains depends on what its streams gain alone, so that it is the same for all queries."""
    match plan:
        case StreamScan():
            return True
        case Windowed(child, window):
            waits = isinstance(window, Range) and window.slide > 1
            return isinstance(window, LogicalWindow) and not waits and remembers_nothing(child)
        case Select() | Project() | Union():
            return all(map(remembers_nothing, plan.children))
    return False
