"""Immutable runs: weighted tuples sorted by key, all of which have started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from thalweg.core.batch import Dates
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.indexes import CodeIndex
from thalweg.kernel.state.keyed import Keyed, codes_of, equal
from thalweg.kernel.state.snapshot import immutable

_SAMPLED_ENDS = 64


@immutable("run/1")
@dataclass(frozen=True)
class TupleRun:
    """Tuples by key (see keyed.py). `sign` is a weight: a tuple stands for |sign| equal positive or negative tuples.

    A deleted tuple stays in its run with the end BEGINNING, so that it is never alive.
    """

    keys: Ints
    columns: tuple[Lane, ...]
    end: Ints
    sign: Ints
    dates: Dates | None

    @staticmethod
    def of(arrivals: Keyed) -> TupleRun:
        """A run of tuples, without their starts: all tuples that will be joined with them start later."""
        return TupleRun.uncounted(arrivals)._counted()

    @staticmethod
    def uncounted(arrivals: Keyed) -> TupleRun:
        """A run in which equal neighbours are not merged into one weighted tuple."""
        tuples = arrivals.tuples
        return TupleRun(arrivals.keys, tuples.columns, tuples.end, tuples.sign.astype(np.int64), tuples.dates)

    @staticmethod
    def merge(runs: Sequence[TupleRun], now: Instant) -> TupleRun:
        """Merge runs without their ended tuples; equal tuples of opposite signs cancel."""
        whole = TupleRun.concat([run.alive(now) for run in runs])
        return whole.take(np.argsort(whole.keys, kind="stable"))._counted()  # a stable sort merges sorted runs

    @staticmethod
    def concat(runs: Sequence[TupleRun]) -> TupleRun:
        """Append runs to each other, without sorting: the caller restores the order of keys."""
        dates = [run.dates for run in runs if run.dates is not None]
        return TupleRun(
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
        """The size of all arrays."""
        dates = () if self.dates is None else (self.dates.ts, self.dates.exp)
        return sum(lane.nbytes for lane in (self.keys, *self.columns, self.end, self.sign, *dates))

    def take(self, rows: Lane) -> TupleRun:
        """Some of the tuples."""
        columns = tuple(c[rows] for c in self.columns)
        dates = self.dates.take(rows) if self.dates is not None else None
        return TupleRun(self.keys[rows], columns, self.end[rows], self.sign[rows], dates)

    def alive(self, now: Instant) -> TupleRun:
        """The run without its ended tuples."""
        alive = self.end > now
        return self if alive.all() else self.take(alive)

    def ended_share(self, now: Instant) -> float:
        """The share of tuples that have ended, estimated from a sample."""
        return float(np.searchsorted(self._sampled_ends, now, side="right") / max(1, len(self._sampled_ends)))

    @cached_property
    def last_end(self) -> Instant:
        """The end of the last tuple to end."""
        return int(self.end.max(initial=BEGINNING))

    @cached_property
    def first_end(self) -> Instant:
        """The end of the first tuple to end; BEGINNING if a tuple was deleted."""
        return int(self.end.min(initial=FOREVER))

    @cached_property
    def is_plain(self) -> bool:
        """Whether every tuple has weight 1."""
        return bool((self.sign == 1).all())

    @cached_property
    def _sampled_ends(self) -> Ints:
        return np.sort(self.end[:: max(1, len(self) // _SAMPLED_ENDS)])

    def find(self, codes: Ints) -> tuple[Ints, Ints]:
        """For each code the position of its first tuple, and the number of its tuples."""
        return self._index.find(codes)

    @cached_property
    def _index(self) -> CodeIndex:
        return CodeIndex(codes_of(self.keys))

    def delete(self, negatives: Keyed) -> tuple[TupleRun, Flags]:
        """The run without the tuples that negative tuples delete, and which negative tuples deleted one."""
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

    def _counted(self) -> TupleRun:
        """Merge equal neighbours into one tuple with the sum of their weights; drop tuples of weight 0."""
        rows = np.flatnonzero(self.keys[1:] == self.keys[:-1])
        if not len(rows):
            return self
        starts = np.ones(len(self), dtype=np.bool_)
        starts[rows + 1] = ~equal(self, rows + 1, self, rows)
        first = np.flatnonzero(starts)
        sign = np.add.reduceat(self.sign, first)
        return replace(self.take(first), sign=sign).take(sign != 0)
