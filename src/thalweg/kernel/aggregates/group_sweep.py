"""The sweep of DISTINCT and GROUP BY: accumulators compute values at each step, and changed rows are emitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.emitted import EmittedGroups, GroupChanges
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.steps import GroupSteps

CodedPiece = tuple[Ints, Batch]  # the codes of the tuples' groups, and the tuples


class GroupSweep(Stateful, kind="group-sweep/1"):
    """Groups by code with values from accumulators.

    The first value of the first accumulator is positive if a group exists; all other values are emitted with the
    group. With `always`, group 0 exists from the first batch on, even over no tuples.
    """

    KEPT = ("_accumulators", "_emitted", "_begun")

    def __init__(
        self, accumulators: Sequence[Accumulator], types: Sequence[DataType] = (), always: bool = False
    ) -> None:
        self._accumulators = accumulators
        self._emitted = EmittedGroups(types)
        self._always = always
        self._begun = False
        self._earliest: Instant = FOREVER  # start of the pieces of this batch so far
        self.vanished: Ints = np.empty(0, dtype=np.int64)  # groups of the last batch that have no state left

    @property
    def stored(self) -> int:
        """The tuples of the accumulators, and the groups in the answer."""
        return self._emitted.size + sum(a.stored for a in self._accumulators)

    def is_idle(self, codes: Ints) -> Flags:
        """Which groups are empty and have no pending ends."""
        return ~self._emitted.has(codes) & self._accumulators[0].is_idle(codes)

    @property
    def takes_pieces(self) -> bool:
        """Whether a batch may come in pieces."""
        return all(a.takes_pieces for a in self._accumulators)

    def change_by_pieces(self, pieces: Iterable[CodedPiece], now: Instant) -> GroupChanges:
        """The changes of the groups, given the pieces of a batch, at least one."""
        last: CodedPiece | None = None
        for piece in pieces:
            if last is not None:
                self._absorb(*last)
            last = piece
        assert last is not None, "a batch has at least one piece"
        return self.change(*last, now)

    def _absorb(self, code: Ints, piece: Batch) -> None:
        """Take a piece that is not the last."""
        self._earliest = min(self._earliest, int(piece.start.min(initial=FOREVER)))
        for accumulator in self._accumulators:
            accumulator.absorb(code, piece)

    def change(self, code: Ints, batch: Batch, now: Instant) -> GroupChanges:
        """The changes of the groups, given tuples with the codes of their groups: a batch, or its last piece."""
        events = [a.gather(code, batch, now) for a in self._accumulators]
        if self._always and not self._begun:
            first = min(now, self._earliest, int(batch.start.min(initial=now)))
            events.append((np.zeros(1, dtype=np.int64), np.full(1, first)))
            self._begun = True
        self._earliest = FOREVER
        steps, places = GroupSteps.of(events)
        if not len(steps):  # no group changes
            self.vanished = steps.code
            return self._emitted.no_change()
        pairs = zip(self._accumulators, places[: len(self._accumulators)], strict=True)
        size, *lanes = [lane for a, steps_of in pairs for lane in a.values(steps, steps_of)]
        present = np.ones(len(steps), dtype=np.bool_) if self._always else size > 0
        empty = steps.groups[~present[steps.stop - 1]]
        self.vanished = empty[self._accumulators[0].is_idle(empty)]
        return self._emitted.change(steps, present, lanes)
