"""sigma_F(S1 =|x| S2) = sigma_F(S1) =|x| S2 for F over the side whose rows all survive."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import shift
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, Select
from thalweg.optimizer.columns import selected, split


def push_selection_below_outer_join(plan: Plan) -> Plan | None:
    """A row of the kept side brings all its results along, matched or not, so it may be dropped before.

    LEFT: parts over the left side; RIGHT: over the right side. Parts over the other side see NULLs that are not there
    below; in a FULL join that is either side.
    """
    match plan:
        case Select(Join(kind=JoinKind.LEFT) | NrrJoin(kind=JoinKind.LEFT) as join, predicate):
            width = len(join.left.schema)
            down, stay = split(predicate, lambda read: max(read) < width)
            return selected(replace(join, left=selected(join.left, down)), stay) if down else None
        case Select(Join(kind=JoinKind.RIGHT) as join, predicate):
            width = len(join.left.schema)
            down, stay = split(predicate, lambda read: min(read) >= width)
            below = selected(join.right, [shift(part, -width) for part in down])
            return selected(replace(join, right=below), stay) if down else None
    return None
