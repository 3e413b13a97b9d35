"""sigma_F(gamma_K(S)) = gamma_K(sigma_{F over K}(S)) for F over the keys alone."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.plan import GroupBy, Plan, Select
from thalweg.optimizer.columns import selected, split, through
from thalweg.optimizer.conditions import tells_zeros_apart


def push_selection_below_group_by(plan: Plan) -> Plan | None:
    """Tuples of groups that are not wanted are dropped before they are counted.

    Parts that read keys only, and at least one: all tuples of a group share them. A part over no column must stay, for
    a global aggregate has its row over nothing too; a part over an aggregate sees what the whole group gives.
    """
    match plan:
        case Select(GroupBy(child, keys) as group, predicate):
            down, stay = split(predicate, lambda read: max(read) < len(keys))
            if down and not any(map(tells_zeros_apart, down)):
                below = selected(child, [through(part, keys) for part in down])
                return selected(replace(group, child=below), stay)
    return None
