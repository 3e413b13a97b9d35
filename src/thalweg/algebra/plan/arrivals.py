"""The order in which a stream's tuples come, for windows that count them."""

from __future__ import annotations

from thalweg.algebra.plan.leaves import StreamScan
from thalweg.algebra.plan.nodes import Plan
from thalweg.algebra.plan.unary import Project, Select


def keeps_arrival_order(plan: Plan) -> bool:
    """Whether a stream's tuples come in the order in which they arrived (docs/semantics.md, "Windows")."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return isinstance(plan, StreamScan)
