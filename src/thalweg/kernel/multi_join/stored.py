"""The tuples of one input that have been joined: once for each attribute by which they are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import Instant
from thalweg.kernel.state.buffers import Buffer
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import Run
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.sweep.segments import slices_to_rows

_SOME = 16  # values for which that pays
_FEW = 4096  # tuples that cost less to copy than to look up run by run
InRun = tuple[Run, Ints, Ints]  # a run, and for each code the first place of its tuples and their number
SCANNED = -1  # in place of an attribute: nothing is looked up, all is read


@dataclass(frozen=True)
class Told:
    """What a batch tells of an input: old = stored + deleted, and new = stored + until deleted + kept.

    `deleting` are the negative tuples that found theirs, `kept` all others, also by the key of each buffer.
    """

    kept: Batch
    deleting: Batch
    by_key: tuple[Keyed, ...]

    def until_deleted(self, begun: Instant) -> Batch:
        """The old tuples that are deleted, until then; `begun` is an instant by which they had."""
        if not len(self.deleting):
            return self.deleting
        tuples = self.deleting.negated()
        return tuples.between(np.full(len(tuples), begun), tuples.start)

    def deleted(self, begun: Instant) -> Batch:
        """The old tuples that are deleted, as they would have been."""
        tuples = self.deleting.negated()
        return replace(tuples, start=np.full(len(tuples), begun))


class Stored(Stateful, kind="multi-join-input/1"):
    """One buffer for each attribute that is looked up, or a single one that is scanned."""

    KEPT = ("_attributes", "_buffers")

    def __init__(self, attributes: Sequence[int], places: Sequence[int], buffers: Sequence[Buffer]) -> None:
        """`places` are the columns of the attributes' codes; an input that is scanned has the attribute SCANNED."""
        self._attributes = list(attributes)
        self._places = tuple(places)
        self._buffers = list(buffers)
        self._merged: dict[int, Sequence[Run]] = {}  # by attribute, for a turn
        self._looked_up: dict[int, tuple[Ints, list[InRun]]] = {}  # the same: codes, and where they are

    def __len__(self) -> int:
        return sum(map(len, self._buffers))

    @property
    def size(self) -> int:
        """How many tuples the window holds, however often they are stored."""
        return len(self._buffers[0])

    @property
    def runs(self) -> Sequence[Run]:
        """All tuples once."""
        return self._buffers[0].runs

    @property
    def layout(self) -> tuple[int, ...]:
        """The attributes by which it is stored."""
        return tuple(self._attributes)

    def is_indexed_by(self, attribute: int) -> bool:
        """Whether an attribute's tuples can be looked up."""
        return attribute in self._attributes

    def probe(self, attribute: int, codes: Ints, since: Ints) -> list[InRun]:
        """Run by run, for each code the first place of its tuples and their number.

        Where more tuples ask (`since` when each begins) than are stored, all runs are first merged, for one turn: it
        costs less than to ask run by run.
        """
        buffer = self._buffers[self._attributes.index(attribute)]
        if attribute not in self._merged and len(codes) >= len(buffer) and len(buffer.runs) > 1:
            self._merged[attribute] = _merged(buffer.runs, int(since.max()))
        if attribute in self._merged:
            return [(run, *run.find(codes)) for run in self._merged[attribute]]
        return list(buffer.probe(codes))

    def scatter(self) -> None:
        """Give up what was gathered for a turn: another one may ask for other codes, or something has changed."""
        self._merged, self._looked_up = {}, {}

    def has(self, attribute: int, codes: Ints) -> Flags:
        """Whether some tuple has a code, of ascending ones."""
        slices = list(self._buffers[self._attributes.index(attribute)].probe(codes))
        self._looked_up[attribute] = codes, slices
        found = np.zeros(len(codes), dtype=np.bool_)
        for _, _, count in slices:
            found |= count > 0
        return found

    def narrow(self, attribute: int, codes: Ints) -> None:
        """In this turn only these of the codes that `has` was asked for are looked up: gather their tuples, if few."""
        known, slices = self._looked_up[attribute]
        if len(slices) < 2 or len(codes) < _SOME:
            return
        where = known.searchsorted(codes)
        slices = [(run, first.take(where), count.take(where)) for run, first, count in slices]
        if sum(int(count.sum()) for _, _, count in slices) <= _FEW:
            few = Run.concat([run.take(slices_to_rows(first, count)) for run, first, count in slices])
            self._merged[attribute] = [few.take(few.keys.argsort(kind="stable"))] if len(few) else []

    def tell(self, tuples: Batch) -> Told:
        """Delete what the negative tuples delete; nothing is kept yet."""
        kept, deleting = [], []
        for place, buffer in zip(self._places, self._buffers, strict=True):
            keyed = _keyed(tuples, place).closed()
            matched = buffer.delete(keyed)
            some = bool(matched.any())
            kept.append(keyed.take(~matched) if some else keyed)
            deleting.append(keyed.tuples.take(matched if some else slice(0, 0)))
        return Told(kept[0].tuples, deleting[0], tuple(kept))

    def keep(self, by_key: Sequence[Keyed], now: Instant) -> None:
        """Store tuples that have been joined."""
        for keyed, buffer in zip(by_key, self._buffers, strict=True):
            buffer.keep(keyed, now)

    def by_key(self, tuples: Batch) -> tuple[Keyed, ...]:
        """Tuples by the key of each buffer."""
        return tuple(_keyed(tuples, place) for place in self._places)

    def expire(self, now: Instant) -> None:
        """Forget what has ended, where it is time to."""
        for buffer in self._buffers:
            buffer.expire(now)


def _merged(runs: Sequence[Run], latest: Instant) -> Sequence[Run]:
    """Runs as one of what lasts longer than an instant, of which nobody must ask when it ends, and one of the rest."""
    whole = Run.concat(runs)
    order = whole.keys.argsort(kind="stable")  # which merges what is sorted
    lasts = whole.end.take(order) > latest
    return [whole.take(rows) for rows in (order[lasts], order[~lasts]) if len(rows)]


def _keyed(tuples: Batch, place: int) -> Keyed:
    codes = np.zeros(len(tuples), dtype=np.int64) if place == SCANNED else tuples.columns[place]
    return Keyed.of(codes, tuples)
