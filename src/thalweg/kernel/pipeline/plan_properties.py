"""Properties of plans that decide which operators run them."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow, Range


def needs_dates(plan: Plan) -> bool:
    """Whether some operator reads the dates `ts` or `exp`: an NRR join, a negation on attributes, RSTREAM."""
    return any(
        isinstance(node, NrrJoin | RStream) or (isinstance(node, Negation) and not node.compares_rows)
        for node in plan.walk()
    )


def deletes_early(plan: Plan) -> bool:
    """Whether an operator deletes results before their ends: a negation, or NOT EXISTS."""
    return isinstance(plan, Negation) or (isinstance(plan, SemiJoin) and plan.anti)


def is_selected_window(plan: Plan) -> bool:
    """Whether the plan is a window below selections and projections: then EXPIRE comes above these."""
    return isinstance(window_of(plan), Windowed)


def window_of(plan: Plan) -> Plan:
    """The plan below selections and projections."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return plan


def is_stateless_plan(plan: Plan) -> bool:
    """Whether the changes of the plan depend only on the new tuples of its streams, not on earlier ones."""
    match plan:
        case StreamScan():
            return True
        case Windowed(child, window):
            waits = isinstance(window, Range) and window.slide > 1
            return isinstance(window, LogicalWindow) and not waits and is_stateless_plan(child)
        case Select() | Project() | Union():
            return all(map(is_stateless_plan, plan.children))
        case RelationScan() | Distinct() | GroupBy() | TopK() | Intersect() | Negation():
            return False
        case Join() | SemiJoin() | NrrJoin() | MultiJoin() | IStream() | DStream() | RStream():
            return False
        case _:
            assert_never(plan)
