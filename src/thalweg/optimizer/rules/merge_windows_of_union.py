"""W_P(S1) U W_P(S2) = W_P(S1 U S2) for equal logical windows."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Union, Windowed
from thalweg.algebra.windows import LogicalWindow


def merge_windows_of_union(plan: Plan) -> Plan | None:
    """One window instead of two, first in, first out again (PatroumpasSellis2011 §5).

    Logical windows of identical signature only: `[ROWS n]` of both would show up to 2n tuples.
    """
    match plan:
        case Union(Windowed(left, LogicalWindow() as window), Windowed(right, same)) if window == same:
            return Windowed(Union(left, right), window)
    return None
