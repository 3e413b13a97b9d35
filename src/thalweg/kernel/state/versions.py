"""All versions of a table: the rows that it held at any instant.

Bound: one tuple for each insertion ever made. No version expires, because a negative tuple must find the rows that its
positive tuple found, however long ago that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.kernel.state.indexes import CodeIndex, TimeIndex
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.snapshot import Stateful, immutable, register

VersionSlices = tuple[Batch, Ints, Ints]  # tuples, and for each look-up the first position and the number of positions

register("keyed-tuples/1", Keyed)


@immutable("version-run/1")
@dataclass(frozen=True)
class Versions:
    """An immutable run of a table's signed intervals; a deletion in the same run has closed the interval it ends.

    Open intervals have an index of their own: a key has few of them, and all that have started are alive.
    """

    intervals: Keyed

    @staticmethod
    def of(codes: Ints, batch: Batch) -> Versions:
        """A run of tuples with the codes of their keys; their dates are dropped."""
        return Versions(Keyed.of(codes, replace(batch, dates=None)).closed())

    def __len__(self) -> int:
        return len(self.intervals)

    def followed_by(self, younger: Versions) -> Versions:
        """Both runs as one; deletions in the younger run close the intervals they end."""
        return Versions(Keyed.concat([self.intervals, younger.intervals]).closed())

    def find(self, codes: Ints, ts: Ints) -> Iterator[VersionSlices]:
        """For each code and instant the tuples that may be alive at the instant; the caller checks."""
        if len(self._open):
            yield (self._open.tuples, *self._open_index.find(codes))
        if self._last_end > ts.min(initial=FOREVER):
            yield (self._closed_in_order, *self._closed_index.find(codes, ts, ts + 1))

    @cached_property
    def _open(self) -> Keyed:
        return self.intervals.take(self.intervals.tuples.end == FOREVER)

    @cached_property
    def _open_index(self) -> CodeIndex:
        return CodeIndex(self._open.codes)

    @cached_property
    def _closed(self) -> Keyed:
        return self.intervals.take(self.intervals.tuples.end < FOREVER)

    @cached_property
    def _closed_index(self) -> TimeIndex:
        return TimeIndex(self._closed.codes, self._closed.tuples.start, self._closed.tuples.end)

    @cached_property
    def _closed_in_order(self) -> Batch:
        return self._closed.tuples.take(self._closed_index.order)

    @cached_property
    def _last_end(self) -> int:
        return int(self._closed.tuples.end.max(initial=BEGINNING))


class VersionStore(Stateful, kind="versions/1"):
    """Runs of versions, merged geometrically, so that few rows have their insertion and deletion in different runs."""

    KEPT = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[Versions] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, run: Versions) -> None:
        """Add the latest changes of the table."""
        if len(run):
            self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            younger, older = self._runs.pop(), self._runs.pop()
            self._runs.append(older.followed_by(younger))

    def codes(self) -> Iterator[Ints]:
        """Run by run, the codes of all keys."""
        return (run.intervals.codes for run in self._runs)

    def find(self, codes: Ints, ts: Ints) -> Iterator[VersionSlices]:
        """Run by run, for each code and instant the tuples that may be alive at the instant."""
        for run in self._runs:
            yield from run.find(codes, ts)
