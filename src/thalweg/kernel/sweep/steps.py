"""Steps: the pairs of a group and an instant at which events of a batch change the group, and running sums along them.

All events of a group at one instant act together, as one step. An operator adds up the events of each step
(`np.add.at`); the state of the group from each step on is then a running sum within the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts

Instants = tuple[Ints, Ints]  # codes of groups, and for each an instant


@dataclass(frozen=True)
class GroupSteps:
    """Distinct pairs of a group code and an instant, sorted; `first` holds the first step of each group."""

    code: Ints
    time: Ints
    first: Ints

    @staticmethod
    def of(events: Sequence[Instants]) -> tuple[GroupSteps, list[Ints]]:
        """The steps of several lists of events, and for each event its step."""
        if len(events) == 1:
            code, time = events[0]
        else:
            code = np.concatenate([c for c, _ in events])
            time = np.concatenate([t for _, t in events])
        order = order_by(code, time)
        code, time = code[order], time[order]
        starts = run_starts(code, time)
        step = np.empty(len(code), dtype=np.int64)
        step[order] = np.cumsum(starts) - 1
        code, time = code[starts], time[starts]
        cuts = np.cumsum([len(c) for c, _ in events])[:-1]
        return GroupSteps(code, time, np.flatnonzero(run_starts(code))), np.split(step, cuts)

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def groups(self) -> Ints:
        """The code of each group, ascending."""
        return self.code[self.first]

    @cached_property
    def stop(self) -> Ints:
        """For each group the position after its last step."""
        return np.append(self.first, len(self.code))[1:]

    @cached_property
    def group(self) -> Ints:
        """For each step the position of its group in `groups`."""
        return self.spread(np.arange(len(self.first)))

    def spread(self, by_group: Lane) -> Lane:
        """Repeat one value per group for all steps of the group."""
        return np.repeat(by_group, self.stop - self.first)

    def running(self, change: Ints, state: Ints) -> Ints:
        """Running sums of `change` along each group's steps, starting from the group's `state`, which is updated."""
        total = np.cumsum(change)
        sums: Ints = total + self.spread(state[self.groups] - total[self.first] + change[self.first])
        state[self.groups] = sums[self.stop - 1]
        return sums

    def previous(self, lane: Lane, state: Lane) -> Lane:
        """The values before each step: those of the previous step, or the group's `state` before its first step."""
        before = np.empty_like(lane)
        before[1:] = lane[:-1]
        before[self.first] = state[self.groups]
        return before


class RunningCount(Stateful, kind="count/1"):
    """Running sums of weights by group code."""

    KEPT = ("_counts",)

    def __init__(self) -> None:
        self._counts = ByCode(np.int64, 0)

    def along(self, steps: GroupSteps, places: Ints, weights: Ints) -> Ints:
        """The sum of each step's group from the step on, given weights and the steps that they belong to."""
        self._counts.fit(int(steps.code[-1]) + 1)
        change = np.zeros(len(steps), dtype=np.int64)
        np.add.at(change, places, weights)
        return steps.running(change, self._counts.values)
