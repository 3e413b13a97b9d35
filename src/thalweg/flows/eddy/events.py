"""Events of a step: tuples that arrive or leave count windows, and the intermediate tuples they form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import FOREVER
from thalweg.flows.eddy.bits import Words


@dataclass(frozen=True)
class JoinEvents:
    """Tuples of one use that arrived (sign 1), or left a count window when others arrived (-1), with their lineage.

    `seq` and `at` are the sequence number and ts of the arriving tuple. Of the events of one arrival, those of earlier
    uses come first, and windows drop tuples before they add one. So a result that has one tuple in several uses is
    added once and removed once.
    """

    use: int
    positions: Ints
    seq: Ints
    at: Ints
    lineage: Words
    sign: int

    @cached_property
    def first(self) -> int:
        """The least sequence number."""
        return int(self.seq.min(initial=FOREVER))

    def take(self, rows: Ints | slice) -> JoinEvents:
        """A subset."""
        positions, seq, at = self.positions[rows], self.seq[rows], self.at[rows]
        return JoinEvents(self.use, positions, seq, at, self.lineage[rows], self.sign)


@dataclass(frozen=True)
class IntermediateTuples:
    """Intermediate tuples: the rows of their events, the positions of their tuples by use, and their lineage."""

    event: Ints
    met: Mapping[int, Ints]
    lineage: Words

    @staticmethod
    def of(events: JoinEvents) -> IntermediateTuples:
        """Events alone."""
        return IntermediateTuples(np.arange(len(events.seq)), {events.use: events.positions}, events.lineage)

    def __len__(self) -> int:
        return len(self.event)

    def take(self, rows: Ints | Flags) -> IntermediateTuples:
        """A subset."""
        return IntermediateTuples(self.event[rows], {use: p[rows] for use, p in self.met.items()}, self.lineage[rows])


class ArrivalCounts:
    """How many tuples of each stream have arrived, by sequence number."""

    def __init__(self, before: Mapping[str, int], seqs: Mapping[str, Ints]) -> None:
        self._before, self._seqs = before, seqs

    def count(self, stream: str, seq: Ints, including: bool) -> Ints:
        """How many tuples arrived before each sequence number; or, if `including`, up to and with it."""
        before = self._before.get(stream, 0)
        if stream not in self._seqs:
            return np.full(len(seq), before)
        return before + np.searchsorted(self._seqs[stream], seq, side="right" if including else "left")


@dataclass(frozen=True)
class EddyStep:
    """The tuples of a step by stream, with ts, sequence numbers, and the counts of earlier and stored tuples."""

    ts: Mapping[str, Ints]
    seqs: Mapping[str, Ints]
    came: Mapping[str, int]
    first: Mapping[str, int]


def in_order(batch: Batch) -> Batch:
    """Tuples by time; those of one instant in order of arrival."""
    start = batch.start
    return batch if (start[1:] >= start[:-1]).all() else batch.take(np.argsort(start, kind="stable"))
