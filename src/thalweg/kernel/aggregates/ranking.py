"""The ranking: all members of each group, best first, where a member may leave at any time.

Runs are sorted by (group, best first). A member that leaves is only marked; a group's head moves past marked ones when
its best is asked for, ever faster, so that no member is passed twice. A member that returns joins a new run.
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

_MANY = 4  # runs of about the same size that are merged
_NOWHERE = np.int64(2**62)


class _Run(Stateful, kind="ranking-run/1"):
    """Members by (group, best first); the search for a group's best begins at its head."""

    KEPT = ("members", "heads")

    def __init__(self, code: Ints, member: Ints, raw: Ints) -> None:
        """Members that are sorted already."""
        self._lay_out((code, member, raw))

    def _lay_out(self, members: tuple[Ints, Ints, Ints]) -> None:
        self.members = members  # which never change
        self.code, self.member, self.raw = members
        self.heads = Heads(self.code)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        self._lay_out(tree["members"])
        super().restore(tree)

    def __len__(self) -> int:
        return len(self.code)


class Ranking(Stateful, kind="ranking/1"):
    """Best values by group code, over members that come and go."""

    KEPT = ("_runs", "_present", "_listed", "_best_raw", "_best_member", "_unlisted")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._runs: list[_Run] = []
        self._present = ByCode(np.bool_, False)  # by member
        self._listed = ByCode(np.bool_, False)  # by member: whether a run holds it from its group's head on
        self._best_raw = ByCode(np.int64, NULL)  # by group
        self._best_member = ByCode(np.int64, -1)  # by group: the member that is the best, -1 if there is none
        self._unlisted: list[Ints] = []

    def remove(self, members: Ints) -> None:
        """Members that leave; each must be present."""
        self._present.values[members] = False

    def best(self, codes: Ints) -> Ints:
        """The best raw of each group, NULL where there is none; codes must differ."""
        self._fit(codes, self._best_raw, self._best_member)
        champions = self._best_member.values[codes]
        stale = codes[(champions >= 0) & ~self._present.values[champions]]
        if len(stale):
            self._best_member.values[stale], self._best_raw.values[stale] = self._look_up(stale)
        return self._best_raw.values[codes]

    def add(self, code: Ints, member: Ints, raw: Ints) -> None:
        """Members that join: each is not present yet, each once, and no NULLs among the raws."""
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
        """Which members are in a run, be it that they have left."""
        self._fit(members, self._listed)
        return self._listed.values[members]

    def unlisted(self) -> Ints:
        """Members that left and have since been dropped from the runs; each call begins anew."""
        dropped = np.concatenate([np.empty(0, dtype=np.int64), *self._unlisted])
        self._unlisted = []
        return dropped

    def _unlist(self, members: Ints) -> None:
        self._listed.values[members] = False
        self._unlisted.append(members)

    def _list(self, run: _Run) -> None:
        """Keep the members of a run that no other run holds; runs of about the same size are merged."""
        new = ~self._listed.values[run.member]
        self._listed.values[run.member] = True
        if not new.all():
            run = self._sorted(run.code[new], run.member[new], run.raw[new])
        if len(run):
            self._runs.append(run)
        while len(self._runs) >= _MANY and len(self._runs[-_MANY]) < _MANY * len(self._runs[-1]):
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

    def _move_heads(self, run: _Run, codes: Ints) -> None:
        """Move the heads of some groups to members that are present."""
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
        """The last runs become one; members that have left are dropped."""
        parts = []
        for run in self._runs[-_MANY:]:
            ahead = run.heads.ahead()
            present = self._present.values[run.member]
            self._unlist(run.member[ahead & ~present])
            kept = ahead & present
            parts.append((run.code[kept], run.member[kept], run.raw[kept]))
        merged = self._sorted(*map(np.concatenate, zip(*parts, strict=True)))
        self._runs[-_MANY:] = [merged] if len(merged) else []

    def _sorted(self, code: Ints, member: Ints, raw: Ints) -> _Run:
        order = order_by(code, -self._order.scale(raw).keys(raw))
        return _Run(code[order], member[order], raw[order])

    @staticmethod
    def _fit(codes: Ints, *states: ByCode) -> None:
        if len(codes):
            for state in states:
                state.fit(int(codes.max()) + 1)
