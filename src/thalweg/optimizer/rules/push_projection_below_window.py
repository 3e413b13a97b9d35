"""pi_L(W_P(S)) = W_P(pi_L(S))."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import Plan, Project, Windowed, keeps_arrival_order
from thalweg.algebra.windows import LogicalWindow, PartitionedRows, Rows, ValueRange, Window
from thalweg.optimizer.columns import plain


def push_projection_below_window(plan: Plan) -> Plan | None:
    """Windows keep narrower tuples (PatroumpasSellis2011 §5).

    Logical windows always. Physical ones too, as the paper says, if the columns that they look at are among L as they
    are, and if the stream comes in order of arrival: a derived stream breaks ties by the whole row, which L changes.
    """
    match plan:
        case Project(Windowed(stream, window), items):
            places = plain(items)
            physical = not isinstance(window, LogicalWindow)
            if not set(window.columns) <= places.keys() or (physical and not keeps_arrival_order(stream)):
                return None
            return Windowed(Project(stream, items), _moved(window, places))
    return None


def _moved(window: Window, places: dict[int, int]) -> Window:
    """The window over columns that stand elsewhere."""
    match window:
        case PartitionedRows(keys):
            return replace(window, keys=tuple(places[k] for k in keys))
        case ValueRange(column):
            return replace(window, column=places[column])
        case Rows() | LogicalWindow():
            return window
    raise AssertionError(f"no rule moves the columns of {window}")
