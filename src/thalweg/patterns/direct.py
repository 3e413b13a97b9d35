"""How results end in strategy "auto": which plans run without negative tuples, and which know ends on arrival."""

from __future__ import annotations

from thalweg.algebra.plan import (
    Distinct,
    Intersect,
    Join,
    JoinKind,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, LogicalWindow, Now, PartitionedRows, Range, Window
from thalweg.core.time import FOREVER


def is_direct(plan: Plan, dated: bool) -> bool:
    """Whether the output has no negative tuples.

    That is less than "WKS or WK by time": a derived stream corrects the instant that is still open. With `dated` tuples
    keep their dates; then duplicate elimination, alone or in a semi-join, takes a row back to give it later dates.
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
        case Join(left, right, _, JoinKind.INNER):
            return is_direct(left, dated) and is_direct(right, dated)
        case MultiJoin(inputs):
            return all(is_direct(child, dated) for child in inputs)
        case SemiJoin(left, right, _, False):
            return not dated and is_direct(left, dated) and is_direct(right, dated)
    return False


def knows_ends(plan: Plan, dated: bool) -> bool:
    """Whether some results may say on arrival when they end: something must wait until then."""
    match plan:
        case Windowed(window=window):
            return _ends(window)
        case Select(child) | Project(child) | NrrJoin(child) | Negation(child) | Intersect(child):
            return knows_ends(child, dated)
        case Union(left, right) | Join(left, right) | SemiJoin(left, right):
            return knows_ends(left, dated) or knows_ends(right, dated)
        case MultiJoin(inputs):
            return any(knows_ends(child, dated) for child in inputs)
        case Distinct(child) | TopK(child):  # elsewhere they end their results by negative tuples
            return is_direct(child, dated) and (not dated or isinstance(plan, TopK)) and knows_ends(child, dated)
    return False


def _ends(window: Window) -> bool:
    match window:
        case Range() | Now():
            return True
        case Landmark(end=end):
            return end < FOREVER
        case PartitionedRows(range=cut):
            return cut is not None
    return False
