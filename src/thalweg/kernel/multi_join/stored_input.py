"""The stored tuples of one input: once for each attribute by which they are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.segments import slices_to_rows
from thalweg.kernel.tuning import DEFAULT, Tuning

RunSlices = tuple[TupleRun, Ints, Ints]  # a run, and for each code the position of its first tuple and their number
SCANNED = -1  # in place of an attribute: the input has no index, and all its tuples are read


@dataclass(frozen=True)
class InputChanges:
    """The changes that a batch makes to an input.

    `deleting` are the negative tuples that deleted a stored tuple; `kept` are all other new tuples, and `by_key` the
    same sorted by the key of each buffer. With `stored` the tuples left in the buffers, old = stored + deleted and
    new = stored + until_deleted + kept.
    """

    kept: Batch
    deleting: Batch
    by_key: tuple[Keyed, ...]

    def until_deleted(self, begun: Instant) -> Batch:
        """Stored tuples that this batch deletes, cut at their deletion; all of them started by `begun`."""
        if not len(self.deleting):
            return self.deleting
        tuples = self.deleting.negated()
        return tuples.between(np.full(len(tuples), begun), tuples.start)

    def deleted(self, begun: Instant) -> Batch:
        """Stored tuples that this batch deletes, with their original ends; all of them started by `begun`."""
        tuples = self.deleting.negated()
        return replace(tuples, start=np.full(len(tuples), begun))


class StoredInput(Stateful, kind="multi-join-input/1"):
    """One buffer for each attribute that has an index, or a single buffer that is scanned."""

    KEPT = ("_attributes", "_buffers")

    def __init__(
        self,
        attributes: Sequence[int],
        code_columns: Sequence[int],
        buffers: Sequence[Buffer],
        tuning: Tuning = DEFAULT,
    ) -> None:
        """`code_columns` hold the attributes' codes; an input that is scanned has the attribute SCANNED."""
        self._attributes = list(attributes)
        self._code_columns = tuple(code_columns)
        self._buffers = list(buffers)
        self._tuning = tuning
        self._merged: dict[int, Sequence[TupleRun]] = {}  # by attribute: runs that serve look-ups of this batch
        self._found: dict[int, tuple[Ints, list[RunSlices]]] = {}  # by attribute: the codes that `has` looked up

    def __len__(self) -> int:
        return sum(map(len, self._buffers))

    @property
    def size(self) -> int:
        """The number of tuples in the window, each counted once."""
        return len(self._buffers[0])

    @property
    def runs(self) -> Sequence[TupleRun]:
        """All tuples, each once."""
        return self._buffers[0].runs

    @property
    def all_runs(self) -> list[TupleRun]:
        """All tuples, once for each buffer."""
        return [run for buffer in self._buffers for run in buffer.runs]

    @property
    def layout(self) -> tuple[int, ...]:
        """The attributes that have an index."""
        return tuple(self._attributes)

    def is_indexed_by(self, attribute: int) -> bool:
        """Whether tuples can be looked up by an attribute."""
        return attribute in self._attributes

    def probe(self, attribute: int, codes: Ints, since: Ints) -> list[RunSlices]:
        """Run by run, for each code the position of its first tuple and the number of its tuples.

        If there are more look-ups (for tuples that start at `since`) than stored tuples, all runs are first merged for
        this batch, which costs less than looking up each code in each run.
        """
        buffer = self._buffers[self._attributes.index(attribute)]
        if attribute not in self._merged and len(codes) >= len(buffer) and len(buffer.runs) > 1:
            self._merged[attribute] = _merged(buffer.runs, int(since.max()))
        if attribute in self._merged:
            return [(run, *run.find(codes)) for run in self._merged[attribute]]
        return list(buffer.probe(codes))

    def drop_merged(self) -> None:
        """Drop the merged runs: they are valid only until the buffers or the restriction of codes change."""
        self._merged, self._found = {}, {}

    def has(self, attribute: int, codes: Ints) -> Flags:
        """Which of the ascending codes a stored tuple has."""
        slices = list(self._buffers[self._attributes.index(attribute)].probe(codes))
        self._found[attribute] = codes, slices
        found = np.zeros(len(codes), dtype=np.bool_)
        for _, _, count in slices:
            found |= count > 0
        return found

    def restrict(self, attribute: int, codes: Ints) -> None:
        """Restrict look-ups to `codes`, some of those of `has`; if there are few matches, copy them into one run."""
        known, slices = self._found[attribute]
        if len(slices) < 2 or len(codes) < self._tuning.copy_matches_from_codes:
            return
        where = known.searchsorted(codes)
        slices = [(run, first.take(where), count.take(where)) for run, first, count in slices]
        if sum(int(count.sum()) for _, _, count in slices) <= self._tuning.copy_matches_up_to:
            copied = TupleRun.concat([run.take(slices_to_rows(first, count)) for run, first, count in slices])
            self._merged[attribute] = [copied.take(copied.keys.argsort(kind="stable"))] if len(copied) else []

    def delete(self, tuples: Batch) -> InputChanges:
        """Delete the stored tuples that negative tuples delete; new tuples are not stored yet."""
        kept, deleting = [], []
        for column, buffer in zip(self._code_columns, self._buffers, strict=True):
            keyed = _keyed(tuples, column).closed()
            matched = buffer.delete(keyed)
            some = bool(matched.any())
            kept.append(keyed.take(~matched) if some else keyed)
            deleting.append(keyed.tuples.take(matched if some else slice(0, 0)))
        return InputChanges(kept[0].tuples, deleting[0], tuple(kept))

    def keep(self, by_key: Sequence[Keyed], now: Instant) -> None:
        """Store tuples that have been joined."""
        for keyed, buffer in zip(by_key, self._buffers, strict=True):
            buffer.keep(keyed, now)

    def by_key(self, tuples: Batch) -> tuple[Keyed, ...]:
        """Tuples sorted by the key of each buffer."""
        return tuple(_keyed(tuples, column) for column in self._code_columns)

    def expire(self, now: Instant) -> None:
        """Let the buffers drop ended tuples."""
        for buffer in self._buffers:
            buffer.expire(now)


def _merged(runs: Sequence[TupleRun], latest: Instant) -> Sequence[TupleRun]:
    """Merge into two runs: tuples alive past `latest`, whose ends need no check, and the rest."""
    whole = TupleRun.concat(runs)
    order = whole.keys.argsort(kind="stable")  # a stable sort merges sorted runs
    outlive = whole.end.take(order) > latest
    return [whole.take(rows) for rows in (order[outlive], order[~outlive]) if len(rows)]


def _keyed(tuples: Batch, column: int) -> Keyed:
    codes = np.zeros(len(tuples), dtype=np.int64) if column == SCANNED else tuples.columns[column]
    return Keyed.of(codes, tuples)
