"""sigma_F(W_P(S)) = W_P(sigma_F(S)) for logical windows."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Select, Windowed
from thalweg.algebra.windows import LogicalWindow


def push_selection_below_window(plan: Plan) -> Plan | None:
    """Only what qualifies enters the window (PatroumpasSellis2011 §5).

    Logical windows only: whether time shows a tuple does not depend on its neighbours. `[ROWS n]` of the selected
    stream would reach further back, and `[RANGE x ON a]` would measure from another maximum.
    """
    match plan:
        case Select(Windowed(stream, LogicalWindow() as window), predicate):
            return Windowed(Select(stream, predicate), window)
    return None
