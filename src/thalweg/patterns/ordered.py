"""Which joins find the results that a leaving tuple takes along by its order of expiration (W6)."""

from __future__ import annotations

from thalweg.algebra.expressions import conjuncts
from thalweg.algebra.plan import Join, JoinKind, Plan, Project, Select, StreamScan, Windowed
from thalweg.algebra.windows import LogicalWindow


def has_orders(plan: Join) -> bool:
    """Whether each tuple of both sides can carry its order, and on one side at least needs to.

    That is an inner join of windows, perhaps selected and projected, over base streams; one of them is physical. A
    derived stream takes tuples of the open instant back, and which of two equal ones it means cannot be told.
    """
    windows = [_window(side) for side in (plan.left, plan.right)]
    known = [w for w in windows if w is not None]
    physical = any(not isinstance(w.window, LogicalWindow) for w in known)
    return plan.kind is JoinKind.INNER and len(known) == len(windows) and physical


def prefers_orders(plan: Join) -> bool:
    """Whether strategy "auto" does it: where candidates of equal keys must be looked at one by one.

    To find the results again by key alone is cheaper than to keep them, and without any key the results may be as many
    as the windows have pairs (docs/performance.md, "Joins over count windows").
    """
    return has_orders(plan) and 0 < len(plan.equalities) < len(conjuncts(plan.condition))


def _window(plan: Plan) -> Windowed | None:
    """The window over a base stream that the plan selects and projects from."""
    plan = _beneath(plan)
    return plan if isinstance(plan, Windowed) and isinstance(_beneath(plan.child), StreamScan) else None


def _beneath(plan: Plan) -> Plan:
    while isinstance(plan, Select | Project):
        plan = plan.child
    return plan
