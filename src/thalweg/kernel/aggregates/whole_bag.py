"""User-defined aggregates over all values of a group: retrospective, like MIN and MAX (PatroumpasSellis2011 §4.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.algebra.expressions import Aggregate
from thalweg.core.lanes import Ints
from thalweg.core.rows import Value
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.user import NetChanges, UserAggregateBase
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts
from thalweg.kernel.sweep.steps import GroupSteps

_Bag = tuple[Ints, Ints]  # raws in the order of their values, and the copies of each
_NONE = np.empty(0, dtype=np.int64)
_EMPTY: _Bag = (_NONE, _NONE)


class WholeBag(UserAggregateBase, kind="user-whole-bag/1"):
    """f(the sorted bag of a group's values), for a user's function f.

    State: each group's distinct values with their numbers of copies; the known ends that are not due.
    """

    KEPT = (*UserAggregateBase.KEPT, "_bags", "_value_count")

    def __init__(self, aggregate: Aggregate, column: int, type_: DataType, pool: StringPool, known_ends: bool) -> None:
        super().__init__(aggregate, column, type_, pool, known_ends)
        self._bags: list[_Bag] = []  # by group code; a bag is never changed in place
        self._value_count = 0  # in all bags

    @property
    def stored(self) -> int:
        """The distinct values of all groups, and pending ends."""
        return self._value_count + super().stored

    def _results(self, steps: GroupSteps, net: NetChanges, slices: list[tuple[int, slice]]) -> Iterator[Value]:
        """Concatenate the bags of all groups that change; each step then changes counts in one of them."""
        if not slices:
            return
        group = steps.group[net.step]
        touched = group[run_starts(group)]
        codes = steps.groups[touched].tolist()
        self._bags += [_EMPTY] * (codes[-1] + 1 - len(self._bags))
        bags = [self._bags[code] for code in codes]
        kept = np.concatenate([raw for raw, _ in bags])
        kept_group = np.repeat(touched, [len(raw) for raw, _ in bags])
        raw, group, entry = self._side_by_side(np.concatenate([kept, net.raw]), np.concatenate([kept_group, group]))
        count = np.zeros(len(raw), dtype=np.int64)
        count[entry[: len(kept)]] = np.concatenate([copies for _, copies in bags])
        changed, values = entry[len(kept) :], self._user_values(raw)
        first = np.flatnonzero(run_starts(group))
        bounds = {g: slice(a, b) for g, a, b in zip(touched, first, np.append(first, len(raw))[1:], strict=True)}
        for step, rows in slices:
            count[changed[rows]] += net.weight[rows]
            own = bounds[steps.group[step]]
            yield self._user.over(np.repeat(values[own], count[own]))
        for code, own in zip(codes, bounds.values(), strict=True):
            self._keep(code, raw[own], count[own])

    def _side_by_side(self, raw: Ints, group: Ints) -> tuple[Ints, Ints, Ints]:
        """The distinct pairs of group and raw, by (group, value), and for each given raw the position of its pair."""
        order = order_by(group, self._order.scale(raw).keys(raw))
        starts = run_starts(group[order], raw[order])
        entry = np.empty(len(raw), dtype=np.int64)
        entry[order] = np.cumsum(starts) - 1
        chosen = order[starts]
        return raw[chosen], group[chosen], entry

    def _keep(self, code: int, raw: Ints, count: Ints) -> None:
        present = count > 0
        bag = (raw[present], count[present]) if present.any() else _EMPTY
        self._value_count += len(bag[0]) - len(self._bags[code][0])
        self._bags[code] = bag
