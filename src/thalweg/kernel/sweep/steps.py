"""Steps: the instants of a batch at which something happens to a group, and sums that run along them.

Everything that happens to a group at one instant acts together, so it has one step. A sweeping operator scatters what
happens onto the steps (`np.add.at`), and what holds from each step on is a running sum within the group.
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
class Steps:
    """Pairs of a group's code and an instant, each once, sorted; `first` is where each group begins."""

    code: Ints
    time: Ints
    first: Ints

    @staticmethod
    def of(happenings: Sequence[Instants]) -> tuple[Steps, list[Ints]]:
        """The steps of all happenings, and for each happening its step."""
        if len(happenings) == 1:
            code, time = happenings[0]
        else:
            code = np.concatenate([c for c, _ in happenings])
            time = np.concatenate([t for _, t in happenings])
        order = order_by(code, time)
        code, time = code[order], time[order]
        starts = run_starts(code, time)
        step = np.empty(len(code), dtype=np.int64)
        step[order] = np.cumsum(starts) - 1
        code, time = code[starts], time[starts]
        cuts = np.cumsum([len(c) for c, _ in happenings])[:-1]
        return Steps(code, time, np.flatnonzero(run_starts(code))), np.split(step, cuts)

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def groups(self) -> Ints:
        """The code of each group, ascending."""
        return self.code[self.first]

    @cached_property
    def stop(self) -> Ints:
        """Where each group's steps end."""
        return np.append(self.first, len(self.code))[1:]

    @cached_property
    def group(self) -> Ints:
        """For each step the place of its group among the groups."""
        return self.spread(np.arange(len(self.first)))

    def spread(self, by_group: Lane) -> Lane:
        """One value per group as one per step."""
        return np.repeat(by_group, self.stop - self.first)

    def running(self, change: Ints, state: Ints) -> Ints:
        """Sums along each group's steps that begin with the group's `state`; the state is moved on."""
        total = np.cumsum(change)
        sums: Ints = total + self.spread(state[self.groups] - total[self.first] + change[self.first])
        state[self.groups] = sums[self.stop - 1]
        return sums

    def previous(self, lane: Lane, state: Lane) -> Lane:
        """What held before each step: the lane one step earlier, or the group's state."""
        before = np.empty_like(lane)
        before[1:] = lane[:-1]
        before[self.first] = state[self.groups]
        return before


class Count(Stateful, kind="count/1"):
    """Running sums of weights by code."""

    KEPT = ("_counts",)

    def __init__(self) -> None:
        self._counts = ByCode(np.int64, 0)

    def along(self, steps: Steps, places: Ints, weights: Ints) -> Ints:
        """The count of each step's group from that step on, given weights that fall on steps."""
        self._counts.fit(int(steps.code[-1]) + 1)
        change = np.zeros(len(steps), dtype=np.int64)
        np.add.at(change, places, weights)
        return steps.running(change, self._counts.values)
