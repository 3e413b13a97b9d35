"""Immutable runs: weighted tuples that have all begun, sorted by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from thalweg.core.batch import Dates
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.code_index import CodeIndex
from thalweg.kernel.state.keyed import Keyed, codes_of, equal
from thalweg.kernel.state.snapshot import immutable

_SAMPLE = 64


@immutable("run/1")
@dataclass(frozen=True)
class Run:
    """Tuples by key (see `keyed`); `sign` says how many equal ones a tuple stands for, negative if they are to go.

    What has been deleted ends at the beginning of time, and so takes part in nothing.
    """

    keys: Ints
    columns: tuple[Lane, ...]
    end: Ints
    sign: Ints
    dates: Dates | None

    @staticmethod
    def of(arrivals: Keyed) -> Run:
        """A run of tuples whose starts no longer matter: all that will meet them comes later."""
        return Run.plain(arrivals)._counted()

    @staticmethod
    def plain(arrivals: Keyed) -> Run:
        """The same, where every tuple stands for itself alone."""
        tuples = arrivals.tuples
        return Run(arrivals.keys, tuples.columns, tuples.end, tuples.sign.astype(np.int64), tuples.dates)

    @staticmethod
    def merge(runs: Sequence[Run], now: Instant) -> Run:
        """Several runs as one, without what has ended; equal tuples of opposite signs go."""
        whole = Run.concat([run.alive(now) for run in runs])
        return whole.take(np.argsort(whole.keys, kind="stable"))._counted()  # stable sorts merge what is sorted

    @staticmethod
    def concat(runs: Sequence[Run]) -> Run:
        """Several runs one behind the other, which is a run in itself only if their keys allow it."""
        dates = [run.dates for run in runs if run.dates is not None]
        return Run(
            np.concatenate([run.keys for run in runs]),
            tuple(np.concatenate(lanes) for lanes in zip(*(run.columns for run in runs), strict=True)),
            np.concatenate([run.end for run in runs]),
            np.concatenate([run.sign for run in runs]),
            Dates(np.concatenate([d.ts for d in dates]), np.concatenate([d.exp for d in dates])) if dates else None,
        )

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """The memory that the tuples take."""
        dates = () if self.dates is None else (self.dates.ts, self.dates.exp)
        return sum(lane.nbytes for lane in (self.keys, *self.columns, self.end, self.sign, *dates))

    def take(self, rows: Lane) -> Run:
        """Some of the tuples."""
        columns = tuple(c[rows] for c in self.columns)
        dates = self.dates.take(rows) if self.dates is not None else None
        return Run(self.keys[rows], columns, self.end[rows], self.sign[rows], dates)

    def alive(self, now: Instant) -> Run:
        """Without what has ended."""
        alive = self.end > now
        return self if alive.all() else self.take(alive)

    def ended_share(self, now: Instant) -> float:
        """About how much of the run has ended, judged by a sample."""
        return float(np.searchsorted(self._some_ends, now, side="right") / max(1, len(self._some_ends)))

    @cached_property
    def last_end(self) -> Instant:
        """When the last tuple ends."""
        return int(self.end.max(initial=BEGINNING))

    @cached_property
    def first_end(self) -> Instant:
        """When the first tuple ends; what was deleted has."""
        return int(self.end.min(initial=FOREVER))

    @cached_property
    def is_plain(self) -> bool:
        """Whether every tuple stands for itself alone."""
        return bool((self.sign == 1).all())

    @cached_property
    def _some_ends(self) -> Ints:
        return np.sort(self.end[:: max(1, len(self) // _SAMPLE)])

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each code the first place of its tuples and their number."""
        return self._index.find(codes)

    @cached_property
    def _index(self) -> CodeIndex:
        return CodeIndex(codes_of(self.keys))

    def delete(self, negatives: Keyed) -> tuple[Run, Flags]:
        """The run without what negative tuples delete, and which of them found something to delete."""
        place = np.minimum(np.searchsorted(self.keys, negatives.keys), len(self) - 1)
        rank = np.arange(len(negatives)) - np.searchsorted(negatives.keys, negatives.keys)
        found = (self.keys[place] == negatives.keys) & (rank < self.sign[place])
        rows = np.flatnonzero(found)
        found[rows] = equal(self, place[rows], negatives.tuples, rows)
        if not found.any():
            return self, found
        sign, end = self.sign.copy(), self.end.copy()
        touched = place[found]
        np.subtract.at(sign, touched, 1)
        end[touched[sign[touched] == 0]] = BEGINNING
        return replace(self, sign=sign, end=end), found

    def _counted(self) -> Run:
        """Equal neighbours as one tuple; none at all where they add up to nothing."""
        rows = np.flatnonzero(self.keys[1:] == self.keys[:-1])
        if not len(rows):
            return self
        starts = np.ones(len(self), dtype=np.bool_)
        starts[rows + 1] = ~equal(self, rows + 1, self, rows)
        first = np.flatnonzero(starts)
        sign = np.add.reduceat(self.sign, first)
        return replace(self.take(first), sign=sign).take(sign != 0)
