"""op(nothing) = nothing for every operator of one input, but for a global aggregate; DSTREAM(S) = nothing."""

from __future__ import annotations

from thalweg.algebra.plan import Distinct, DStream, GroupBy, IStream, Plan, Project, RStream, Select, TopK, Windowed
from thalweg.optimizer.nothing import is_nothing, nothing


def fold_nothing(plan: Plan) -> Plan | None:
    """What has no input has no output. Also LIMIT 0, and what a stream, which only grows, has lost.

    A global aggregate over nothing is one row (COUNT 0, the others NULL) and stays.
    """
    match plan:
        case TopK(limit=0):
            return nothing(plan)
        case DStream(child) if child.is_stream:
            return nothing(plan)
        case GroupBy(child, keys) if is_nothing(child) and keys:
            return nothing(plan)
        case Windowed(child) | Distinct(child) | TopK(child) | IStream(child) | DStream(child) | RStream(child):
            return nothing(plan) if is_nothing(child) else None
        case Select() | Project() if is_nothing(plan) or is_nothing(plan.child):
            return nothing(plan)
    return None
