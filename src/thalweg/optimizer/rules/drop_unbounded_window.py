"""W_unbounded(S) = S."""

from __future__ import annotations

from thalweg.algebra.plan import Plan, Windowed
from thalweg.algebra.windows import Unbounded


def drop_unbounded_window(plan: Plan) -> Plan | None:
    """Everything so far is the stream's own contents (PatroumpasSellis2011, definition 4). Always."""
    match plan:
        case Windowed(stream, Unbounded()):
            return stream
    return None
