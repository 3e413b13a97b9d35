"""What happens in a step: the tuples that come, what that does to stored ones, and the intermediate tuples it makes."""

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
class Events:
    """Tuples of one use that came (sign 1), or left a counting window as others came (-1): when, and with whose bits.

    `seq` and `at` are sequence number and ts of the tuple that came. Of the events of one arrival those of earlier uses
    come first, and windows let go before they take up. So a result whose parts are one and the same tuple in several
    uses comes once and leaves once.
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

    def take(self, rows: Ints | slice) -> Events:
        """Some of them."""
        positions, seq, at = self.positions[rows], self.seq[rows], self.at[rows]
        return Events(self.use, positions, seq, at, self.lineage[rows], self.sign)


@dataclass(frozen=True)
class Partial:
    """Intermediate tuples: the rows of their events, by use the positions of the tuples they are made of, lineage."""

    event: Ints
    met: Mapping[int, Ints]
    lineage: Words

    @staticmethod
    def of(events: Events) -> Partial:
        """Events alone."""
        return Partial(np.arange(len(events.seq)), {events.use: events.positions}, events.lineage)

    def __len__(self) -> int:
        return len(self.event)

    def take(self, rows: Ints | Flags) -> Partial:
        """Some of them."""
        return Partial(self.event[rows], {use: p[rows] for use, p in self.met.items()}, self.lineage[rows])


class Arrivals:
    """How many tuples of each stream have come, by the sequence numbers that the tuples of a step were given."""

    def __init__(self, before: Mapping[str, int], seqs: Mapping[str, Ints]) -> None:
        self._before, self._seqs = before, seqs

    def count(self, stream: str, seq: Ints, too: bool) -> Ints:
        """How many came before each sequence number, or with it too."""
        before = self._before.get(stream, 0)
        if stream not in self._seqs:
            return np.full(len(seq), before)
        return before + np.searchsorted(self._seqs[stream], seq, side="right" if too else "left")


@dataclass(frozen=True)
class Step:
    """The tuples of a step by stream: their ts and sequence numbers, and how many had come and been stored before."""

    ts: Mapping[str, Ints]
    seqs: Mapping[str, Ints]
    came: Mapping[str, int]
    first: Mapping[str, int]


def in_order(batch: Batch) -> Batch:
    """Tuples by time; those of one time as they came."""
    start = batch.start
    return batch if (start[1:] >= start[:-1]).all() else batch.take(np.argsort(start, kind="stable"))
