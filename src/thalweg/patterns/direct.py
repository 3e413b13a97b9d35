"""Which plans run without negative tuples: every result says on arrival when it ends."""

from __future__ import annotations

from thalweg.algebra.plan import (
    Distinct,
    Join,
    JoinKind,
    Plan,
    Project,
    Select,
    SemiJoin,
    StreamScan,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow


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
        case SemiJoin(left, right, _, False):
            return not dated and is_direct(left, dated) and is_direct(right, dated)
    return False
