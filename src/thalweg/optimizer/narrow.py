"""A plan without the columns that nobody reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import Join, MultiJoin, NrrJoin, Plan, Select, SemiJoin
from thalweg.optimizer.columns import kept, moved

Places = Mapping[int, int]


def narrow(plan: Plan, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    """A join, perhaps selected from, whose sides bring only what is wanted above or read here; and where that stands.

    None if there is nothing to leave out. A side brings one column at least, for it has rows all the same.
    """
    match plan:
        case Select(child, predicate):
            below = narrow(child, wanted | columns_of(predicate))
            return None if below is None else (Select(below[0], moved(predicate, below[1])), below[1])
        case Join() | NrrJoin() | SemiJoin():
            return _narrow_join(plan, wanted | columns_of(plan.condition))
        case MultiJoin():
            return _narrow_multi_join(plan, wanted | columns_of(plan.condition))
    return None


def _narrow_multi_join(plan: MultiJoin, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    mine = [[i for i in sorted(wanted) if a <= i < b] or [a] for a, b in pairwise(plan.offsets)]
    order = [i for some in mine for i in some]
    if len(order) == len(plan.schema):
        return None
    places = {old: new for new, old in enumerate(order)}
    firsts = zip(plan.inputs, plan.offsets[:-1], mine, strict=True)
    inputs = tuple(_side(side, [i - first for i in some]) for side, first, some in firsts)
    return MultiJoin(inputs, moved(plan.condition, places)), places


def _narrow_join(plan: Join | NrrJoin | SemiJoin, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    width = len(plan.left.schema)
    left = sorted(i for i in wanted if i < width) or [0]
    right = sorted(i - width for i in wanted if i >= width) or [0]
    if len(left) == width and len(right) == len(plan.right.schema):
        return None
    order = [*left, *(i + width for i in right)]
    places = {old: new for new, old in enumerate(order)}
    sides = _side(plan.left, left), _side(plan.right, right)
    return replace(plan, left=sides[0], right=sides[1], condition=moved(plan.condition, places)), places


def _side(side: Plan, wanted: list[int]) -> Plan:
    return side if len(wanted) == len(side.schema) else kept(side, wanted)
