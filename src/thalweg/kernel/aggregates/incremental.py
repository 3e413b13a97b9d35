"""User-defined aggregates with insert and delete functions: progressive like SUM (PatroumpasSellis2011 §4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from thalweg.algebra.expressions import Aggregate
from thalweg.core.errors import SnapshotError
from thalweg.core.rows import Value
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.user import NetChanges, UserAggregateBase
from thalweg.kernel.aggregates.user_states import read_states, written_states
from thalweg.kernel.state.snapshot import Tree
from thalweg.kernel.state.upgrades import Fields, upgrade
from thalweg.kernel.sweep.steps import GroupSteps


@upgrade("user-incremental/1", "user-incremental/2")
def _refuse_pickles(old: Fields) -> Fields:
    raise SnapshotError(
        "the checkpoint holds states of a user's aggregate that an older version of Thalweg has pickled; they are not "
        "opened, as a pickle can run any code",
        hint="start the query anew with another checkpoint",
    )


class Incremental(UserAggregateBase, kind="user-incremental/2"):
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
        """The user's states must be plain values here: a SnapshotError names the aggregate if one is not."""
        return super().snapshot() | {"_states": np.frombuffer(written_states(self._states, str(self._user)), np.uint8)}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._states = read_states(tree["_states"].tobytes(), str(self._user))

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
