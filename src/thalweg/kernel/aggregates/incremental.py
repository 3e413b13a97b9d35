"""User-defined aggregates with insert and delete functions: progressive like SUM (PatroumpasSellis2011 §4.2)."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from thalweg.algebra.expressions import Aggregate
from thalweg.core.rows import Value
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.user import NetChanges, UserAggregateBase
from thalweg.kernel.state.snapshot import Tree
from thalweg.kernel.sweep.steps import GroupSteps


class Incremental(UserAggregateBase, kind="user-incremental/1"):
    """value(state), where new values are inserted into the group's state and leaving values are deleted from it.

    State: the user's state of each group that has values; the known ends that are not due.
    """

    ADDED = ("_states",)

    def __init__(self, aggregate: Aggregate, column: int, type_: DataType, pool: StringPool, known_ends: bool) -> None:
        super().__init__(aggregate, column, type_, pool, known_ends)
        self._states: dict[int, tuple[Any, int]] = {}  # by group code: the state, and its number of values

    @property
    def stored(self) -> int:
        """The number of states, and pending ends."""
        return len(self._states) + super().stored

    def snapshot(self) -> Tree:
        """The user's states may be any objects, so they are pickled."""
        return super().snapshot() | {"_states": np.frombuffer(pickle.dumps(self._states), dtype=np.uint8)}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._states = pickle.loads(tree["_states"].tobytes())

    def _results(self, steps: GroupSteps, net: NetChanges, slices: list[tuple[int, slice]]) -> Iterator[Value]:
        """Update the group's state at each step; the state is dropped with the group's last value."""
        values = self._user_values(net.raw)
        gains, losses = np.maximum(net.weight, 0), np.maximum(-net.weight, 0)
        for step, rows in slices:
            code = int(steps.code[step])
            state, count = self._states.pop(code) if code in self._states else (self._user.zero(), 0)
            count += int(net.weight[rows].sum())
            gained, lost = np.repeat(values[rows], gains[rows]), np.repeat(values[rows], losses[rows])
            state = self._user.moved(state, gained.tolist(), lost.tolist(), count)
            if count:
                self._states[code] = (state, count)
            yield self._user.value(state, count)
