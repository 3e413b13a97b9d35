"""The ranking: all members of each group, best first; members may leave in any order.

Runs are sorted by (group, best first). A member that leaves is only marked as absent. When a group's best is looked up,
its head moves past absent members, so that no member is passed twice. A member that returns enters a new run.
"""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import NULL, Flags, Ints
from thalweg.kernel.aggregates.heads import Heads
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.state.snapshot import Stateful, Tree
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts, slices_to_rows

_RUNS_PER_MERGE = 4  # of about the same size
_NOWHERE = np.int64(2**62)  # greater than all positions


class RankingRun(Stateful, kind="ranking-run/1"):
    """Members sorted by (group, best first); the search for a group's best begins at the group's head."""

    KEPT = ("members", "heads")

    def __init__(self, code: Ints, member: Ints, raw: Ints) -> None:
        """The members must be sorted."""
        self._lay_out((code, member, raw))

    def _lay_out(self, members: tuple[Ints, Ints, Ints]) -> None:
        self.members = members  # immutable
        self.code, self.member, self.raw = members
        self.heads = Heads(self.code)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        self._lay_out(tree["members"])
        super().restore(tree)

    def __len__(self) -> int:
        return len(self.code)


class Ranking(Stateful, kind="ranking/1"):
    """The best value of each group, over members that enter and leave."""

    KEPT = ("_runs", "_present", "_listed", "_best_raw", "_best_member", "_unlisted")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._runs: list[RankingRun] = []
        self._present = ByCode(np.bool_, False)  # by member
        self._listed = ByCode(np.bool_, False)  # by member: whether a run has it at or after its group's head
        self._best_raw = ByCode(np.int64, NULL)  # by group
        self._best_member = ByCode(np.int64, -1)  # by group: the member that is the best, -1 if there is none
        self._unlisted: list[Ints] = []  # members that were dropped from the runs since the last call of `unlisted`

    def remove(self, members: Ints) -> None:
        """Remove members, which must be present."""
        self._present.values[members] = False

    def best(self, codes: Ints) -> Ints:
        """The best raw of each group, NULL if it has no member; codes must differ."""
        self._fit(codes, self._best_raw, self._best_member)
        champions = self._best_member.values[codes]
        stale = codes[(champions >= 0) & ~self._present.values[champions]]
        if len(stale):
            self._best_member.values[stale], self._best_raw.values[stale] = self._look_up(stale)
        return self._best_raw.values[codes]

    def add(self, code: Ints, member: Ints, raw: Ints) -> None:
        """Add members, which must differ and not be present; raws must not be NULL."""
        if not len(code):
            return
        self._fit(member, self._present, self._listed)
        run = self._sorted(code, member, raw)
        first = np.flatnonzero(run_starts(run.code))
        groups, raw = run.code[first], run.raw[first]
        old = self.best(groups)
        scale = self._order.scale(np.concatenate([old, raw]))
        better = scale.keys(raw) > scale.keys(old)
        self._best_raw.values[groups[better]] = raw[better]
        self._best_member.values[groups[better]] = run.member[first[better]]
        self._present.values[member] = True
        self._list(run)

    def holds(self, members: Ints) -> Flags:
        """Which members are in a run, present or not."""
        self._fit(members, self._listed)
        return self._listed.values[members]

    def unlisted(self) -> Ints:
        """The members that were dropped from the runs since the last call."""
        dropped = np.concatenate([np.empty(0, dtype=np.int64), *self._unlisted])
        self._unlisted = []
        return dropped

    def _unlist(self, members: Ints) -> None:
        self._listed.values[members] = False
        self._unlisted.append(members)

    def _list(self, run: RankingRun) -> None:
        """Append a run of the members that no other run has; merge runs of about the same size."""
        new = ~self._listed.values[run.member]
        self._listed.values[run.member] = True
        if not new.all():
            run = self._sorted(run.code[new], run.member[new], run.raw[new])
        if len(run):
            self._runs.append(run)
        runs, merged = self._runs, _RUNS_PER_MERGE
        while len(runs) >= merged and len(runs[-merged]) < merged * len(runs[-1]):
            self._merge()

    def _look_up(self, codes: Ints) -> tuple[Ints, Ints]:
        """The best member of each group and its raw."""
        members = np.full((len(self._runs) + 1, len(codes)), -1)
        raws = np.full_like(members, NULL)
        for i, run in enumerate(self._runs):
            self._move_heads(run, codes)
            hit, row = run.heads.find(codes)
            members[i, hit], raws[i, hit] = run.member[row], run.raw[row]
        keys = self._order.scale(raws.reshape(-1)).keys(raws.reshape(-1)).reshape(raws.shape)
        choice = (np.argmax(keys, axis=0), np.arange(len(codes)))
        return members[choice], raws[choice]

    def _move_heads(self, run: RankingRun, codes: Ints) -> None:
        """Move the heads of some groups to their first members that are present."""
        first, stop = run.heads.slices(codes)
        groups = searching = np.flatnonzero(first < stop)
        width = 1
        while len(searching):
            begin = first[searching]
            count = np.minimum(stop[searching] - begin, width)
            rows = slices_to_rows(begin, count)
            present = np.where(self._present.values[run.member[rows]], rows, _NOWHERE)
            found = np.minimum.reduceat(present, np.cumsum(count) - count)
            first[searching] = np.minimum(found, begin + count)
            self._unlist(run.member[rows[rows < np.repeat(first[searching], count)]])
            searching = searching[(found == _NOWHERE) & (first[searching] < stop[searching])]
            width *= 4
        run.heads.move(codes[groups], first[groups])

    def _merge(self) -> None:
        """Merge the last runs, and drop absent members."""
        parts = []
        for run in self._runs[-_RUNS_PER_MERGE:]:
            ahead = run.heads.ahead()
            present = self._present.values[run.member]
            self._unlist(run.member[ahead & ~present])
            kept = ahead & present
            parts.append((run.code[kept], run.member[kept], run.raw[kept]))
        merged = self._sorted(*map(np.concatenate, zip(*parts, strict=True)))
        self._runs[-_RUNS_PER_MERGE:] = [merged] if len(merged) else []

    def _sorted(self, code: Ints, member: Ints, raw: Ints) -> RankingRun:
        order = order_by(code, -self._order.scale(raw).keys(raw))
        return RankingRun(code[order], member[order], raw[order])

    @staticmethod
    def _fit(codes: Ints, *states: ByCode) -> None:
        if len(codes):
            for state in states:
                state.fit(int(codes.max()) + 1)
