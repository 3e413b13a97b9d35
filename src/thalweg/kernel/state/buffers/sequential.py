"""The buffer of the direct approach: one sequence in order of arrival. GolabOzsu2005 §2.3.2.

Ended tuples can be anywhere in it, and so can the tuples of a key: every expiration and every probe reads all of it.
It exists for comparison with the other buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.keyed import Keyed, codes_of, equal
from thalweg.kernel.state.run import TupleRun


class SequentialBuffer(Buffer, kind="sequential-buffer/1"):
    """Tuples in order of arrival. Cost: every call reads all tuples."""

    KEPT = ("_expired_at", "_sequence")

    def __init__(self, lazy: int = 0) -> None:
        super().__init__(lazy)
        self._sequence: TupleRun | None = None  # in order of arrival, not of keys

    @property
    def runs(self) -> Sequence[TupleRun]:
        """The sequence as one run, unless it is empty."""
        return [] if self._sequence is None or not len(self._sequence) else [self._sequence]

    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Append the arrivals."""
        order = np.argsort(arrivals.tuples.start, kind="stable")
        arrived = TupleRun.uncounted(arrivals.take(order[arrivals.tuples.end[order] > now]))
        self._sequence = TupleRun.concat([*self.runs, arrived])

    def delete(self, arrivals: Keyed) -> Flags:
        """Read all tuples to find those that negative arrivals delete, and remove them."""
        found = np.zeros(len(arrivals), dtype=np.bool_)
        negative = np.flatnonzero(arrivals.tuples.sign < 0)
        for sequence in self.runs if len(negative) else ():
            keys = arrivals.keys[negative]
            rows = np.flatnonzero((sequence.sign > 0) & np.isin(sequence.keys, keys))
            rows = rows[np.argsort(sequence.keys[rows], kind="stable")]
            rank = np.arange(len(keys)) - np.searchsorted(keys, keys)
            place = np.searchsorted(sequence.keys[rows], keys) + rank
            likely = np.flatnonzero(place < len(rows))
            row = rows[place[likely]]
            same = sequence.keys[row] == keys[likely]
            same &= equal(sequence, row, arrivals.tuples, negative[likely])
            found[negative[likely[same]]] = True
            self._sequence = sequence.take(np.delete(np.arange(len(sequence)), row[same]))
        return found

    def probe(self, codes: Ints) -> Iterator[tuple[TupleRun, Ints, Ints]]:
        """Read all tuples, and copy those with these codes into a run sorted by key."""
        for sequence in self.runs if len(codes) else ():
            stored = codes_of(sequence.keys)
            wanted = np.zeros(max(int(stored.max()), int(codes.max())) + 1, dtype=np.bool_)
            wanted[codes] = True
            rows = np.flatnonzero(wanted[stored])
            if len(rows):
                found = sequence.take(rows[np.argsort(sequence.keys[rows], kind="stable")])
                yield (found, *found.find(codes))

    def _drop_ended(self, now: Instant) -> None:
        if self._sequence is not None:
            self._sequence = self._sequence.alive(now)
