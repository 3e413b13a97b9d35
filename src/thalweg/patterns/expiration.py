"""How results expire in strategy "auto": by dates alone, by dates known on arrival, or by an order of expiration."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.expressions import conjuncts
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
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
from thalweg.algebra.windows import (
    Landmark,
    LogicalWindow,
    Now,
    PartitionedRows,
    Range,
    Rows,
    Unbounded,
    ValueRange,
    Window,
)
from thalweg.core.time import FOREVER


def is_direct(plan: Plan, dated: bool) -> bool:
    """Whether the output has no negative tuples, so that dates alone say when results expire.

    This is stricter than "WKS or WK by time": a derived stream corrects the instant that is still open. With `dated`,
    tuples keep their dates; then duplicate elimination, alone or in a semi-join, deletes a row to give it later dates.
    """
    match plan:
        case StreamScan():
            return True
        case Windowed(child, window):
            return isinstance(window, LogicalWindow) and is_direct(child, dated)
        case Select(child) | Project(child):
            return is_direct(child, dated)
        case Distinct(child):
            return not dated and is_direct(child, dated)
        case Union(left, right):
            return is_direct(left, dated) and is_direct(right, dated)
        case Join(left, right, _, kind):
            return kind is JoinKind.INNER and is_direct(left, dated) and is_direct(right, dated)
        case MultiJoin(inputs):
            return all(is_direct(child, dated) for child in inputs)
        case SemiJoin(left, right, _, anti):
            return not anti and not dated and is_direct(left, dated) and is_direct(right, dated)
        case RelationScan() | NrrJoin() | GroupBy() | TopK() | Negation() | Intersect():
            return False
        case IStream() | DStream() | RStream():
            return False
        case _:
            assert_never(plan)


def knows_ends(plan: Plan, dated: bool) -> bool:
    """Whether some results may carry a date of expiry when they arrive, so that an operator above must wait for it."""
    match plan:
        case Windowed(window=window):
            return _dates_expiry(window)
        case Select(child) | Project(child) | NrrJoin(child) | Negation(child) | Intersect(child):
            return knows_ends(child, dated)
        case Union(left, right) | Join(left, right) | SemiJoin(left, right):
            return knows_ends(left, dated) or knows_ends(right, dated)
        case MultiJoin(inputs):
            return any(knows_ends(child, dated) for child in inputs)
        case Distinct(child) | TopK(child):  # over other inputs their results expire by negative tuples
            return is_direct(child, dated) and (not dated or isinstance(plan, TopK)) and knows_ends(child, dated)
        case StreamScan() | RelationScan() | GroupBy() | IStream() | DStream() | RStream():
            return False
        case _:
            assert_never(plan)


def _dates_expiry(window: Window) -> bool:
    """Whether a tuple's expiry from the window is a date that is known on arrival."""
    match window:
        case Range() | Now():
            return True
        case Landmark(end=end):
            return end < FOREVER
        case PartitionedRows(range=cut):
            return cut is not None
        case Unbounded() | Rows() | ValueRange():
            return False
        case _:
            assert_never(window)


def has_orders(plan: Join) -> bool:
    """Whether a join can find the results of an expiring tuple by its order of expiration (W6).

    It can if it is an inner join of windows over base streams, perhaps with selections and projections between, and if
    at least one of the windows is physical. A derived stream may delete tuples of the open instant, and its negative
    tuple does not say which of two equal tuples it deletes.
    """
    windows = [_window(side) for side in (plan.left, plan.right)]
    known = [w for w in windows if w is not None]
    physical = any(not isinstance(w.window, LogicalWindow) for w in known)
    return plan.kind is JoinKind.INNER and len(known) == len(windows) and physical


def prefers_orders(plan: Join) -> bool:
    """Whether strategy "auto" finds results by order: where it saves comparing candidates of equal keys one by one.

    If the condition is equalities alone, finding results again by key is cheaper than storing them. Without any
    equality, there may be as many results as pairs of tuples (docs/performance.md, "Joins over count windows").
    """
    return has_orders(plan) and 0 < len(plan.equalities) < len(conjuncts(plan.condition))


def _window(plan: Plan) -> Windowed | None:
    """The window over a base stream below selections and projections, if there is one."""
    plan = _without_selections(plan)
    return plan if isinstance(plan, Windowed) and isinstance(_without_selections(plan.child), StreamScan) else None


def _without_selections(plan: Plan) -> Plan:
    """The plan below its selections and projections."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return plan
