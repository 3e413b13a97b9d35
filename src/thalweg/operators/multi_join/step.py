"""One step of a walk: partial results meet one more input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING
from thalweg.operators.multi_join.demand import Demand
from thalweg.operators.multi_join.partial import Partial, Spread
from thalweg.operators.multi_join.view import Candidates, View
from thalweg.operators.pairs import pairs
from thalweg.state.run import Run

_PIECE = 1 << 15  # partial results that are worth going on with
_CELLS = 1 << 20  # comparisons of a scan at a time


class _Met(NamedTuple):
    """Rows of a partial result with rows of tuples that they met, alive together."""

    tuples: Batch | Run
    i: Ints
    j: Ints


@dataclass(frozen=True)
class Step:
    """The input to meet, by the attributes (with the columns of their codes there) that it shares with those before.

    The first attribute is looked up, or all is scanned if it has no index; the others are compared. Then `demands`
    are made, in their order. `carried` are the attributes, with their columns, whose codes come from this input, and
    `needed` those that later steps ask for.
    """

    input: int
    shared: tuple[tuple[int, int], ...]
    carried: tuple[tuple[int, int], ...]
    needed: frozenset[int]
    demands: tuple[Demand, ...]

    def begin(self, view: View) -> Iterator[Partial]:
        """All tuples of the input, as the first part of results."""
        for tuples in view.everything():
            rows = np.arange(len(tuples.end))
            start = np.full(len(rows), BEGINNING) if isinstance(tuples, Run) else tuples.start
            yield from self._children(Partial({}, start, tuples.end, {}), [_Met(tuples, rows, rows)])

    def extend(self, partial: Partial, view: View, counts: list[int], source: int) -> Iterator[Partial]:
        """The partial results with all their partners; the comparisons are added to those of the source."""
        waiting: list[_Met] = []
        rows = 0
        for tuples, i, j in self._candidates(partial, view, counts, source):
            met = self._alive(partial, tuples, i, j)
            if len(met.i):
                waiting.append(met)
                rows += len(met.i)
            if rows >= _PIECE:
                yield from self._children(partial, waiting)
                waiting, rows = [], 0
        yield from self._children(partial, waiting)

    def _candidates(self, partial: Partial, view: View, counts: list[int], source: int) -> Iterator[Candidates]:
        if self.shared and view.is_indexed_by(self.shared[0][0]):
            attribute, place = self.shared[0]
            for found in view.probe(attribute, place, partial.codes[attribute], partial.start, partial.end):
                counts[source] += len(found[1])
                yield found
            return
        for tuples in view.everything():
            counts[source] += len(partial) * len(tuples.end)
            for i, j in self._scan(partial, tuples):
                yield tuples, i, j

    def _scan(self, partial: Partial, tuples: Batch | Run) -> Iterator[tuple[Ints, Ints]]:
        """Every partial result against every tuple, a block at a time."""
        size = len(tuples.end)
        if not self.shared:
            yield from pairs(np.zeros(len(partial), dtype=np.int64), np.full(len(partial), size))
            return
        attribute, place = self.shared[0]
        mine, theirs = partial.codes[attribute], tuples.columns[place]
        block = max(1, _CELLS // max(1, size))
        for begin in range(0, len(partial), block):
            cells = np.flatnonzero(mine[begin : begin + block, None] == theirs)
            i = cells // size
            yield i + begin, cells - i * size

    def _alive(self, partial: Partial, tuples: Batch | Run, i: Ints, j: Ints) -> _Met:
        """The pairs that are alive together and agree in all other attributes."""
        alive: Flags | None = None
        if isinstance(tuples, Batch):
            start = np.maximum(partial.start.take(i), tuples.start.take(j))
            alive = start < np.minimum(partial.end.take(i), tuples.end.take(j))
        elif tuples.first_end <= partial.latest:  # a stored tuple has begun, so it need only last
            alive = partial.start.take(i) < tuples.end.take(j)
        for attribute, place in self.shared[1:]:
            agree = partial.codes[attribute].take(i) == tuples.columns[place].take(j)
            alive = agree if alive is None else alive & agree
        if alive is None or alive.all():
            return _Met(tuples, i, j)
        rows = np.flatnonzero(alive)
        return _Met(tuples, i.take(rows), j.take(rows))

    def _children(self, partial: Partial, found: Sequence[_Met]) -> Iterator[Partial]:
        """What was found as one vector, without what a demand drops; only what is left is told its interval."""
        if not found:
            return
        i = found[0].i if len(found) == 1 else np.concatenate([met.i for met in found])
        new = Spread(tuple((met.tuples, met.j) for met in found))
        for demand in self.demands:
            rows = np.flatnonzero(demand.holds(partial, i, new))
            if not len(rows):
                return
            if len(rows) < len(i):
                i, new = i.take(rows), new.take(rows)
        start, end = new.interval(partial.start.take(i), partial.end.take(i))
        part = new.together()
        codes = {a: lane.take(i) for a, lane in partial.codes.items() if a in self.needed}
        yield Partial(
            {**{other: part.take(i) for other, part in partial.bound.items()}, self.input: part},
            start,
            end,
            codes | {attribute: part.lane(place) for attribute, place in self.carried},
        )
