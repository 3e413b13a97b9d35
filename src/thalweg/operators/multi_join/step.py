"""One step of a walk: partial results meet one more input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane
from thalweg.core.time import BEGINNING
from thalweg.operators.evaluate import Condition
from thalweg.operators.multi_join.partial import Part, Partial
from thalweg.operators.multi_join.view import Candidates, View
from thalweg.operators.pairs import pairs
from thalweg.state.run import Run

_LARGE = 1 << 12  # partial results from one run that are worth going on with by themselves
_PIECE = 1 << 14  # those from several runs, which must be copied together
_CELLS = 1 << 20  # comparisons of a scan at a time


class Demand(NamedTuple):
    """A predicate, and by each column that it reads the input and its column there."""

    condition: Condition
    reads: tuple[tuple[int, int], ...]


class _Met(NamedTuple):
    """Rows of a partial result with rows of tuples that they met."""

    tuples: Batch | Run
    i: Ints
    j: Ints
    start: Ints
    end: Ints


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
        found = [
            _Met(
                tuples,
                rows,
                rows,
                np.full(len(rows), BEGINNING) if isinstance(tuples, Run) else tuples.start,
                tuples.end,
            )
            for tuples in view.everything()
            for rows in [np.arange(len(tuples.end))]
        ]
        nothing = np.empty(0, dtype=np.int64)
        yield from self._children(Partial({}, nothing, nothing, {}), found)

    def extend(self, partial: Partial, view: View, counts: list[int], source: int) -> Iterator[Partial]:
        """The partial results with all their partners; the comparisons are added to those of the source."""
        waiting: list[_Met] = []
        rows = 0
        for tuples, i, j in self._candidates(partial, view, counts, source):
            met = self._alive(partial, tuples, i, j)
            if len(met.i) >= _LARGE:
                yield from self._children(partial, [met])
            elif len(met.i):
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
        start, end = partial.start.take(i), tuples.end.take(j)
        alive = start < end  # a stored tuple has begun, so it need only last
        if isinstance(tuples, Batch):
            np.maximum(start, tuples.start.take(j), out=start)
            alive &= start < partial.end.take(i)
        for attribute, place in self.shared[1:]:
            alive &= partial.codes[attribute].take(i) == tuples.columns[place].take(j)
        rows = np.flatnonzero(alive)
        if len(rows) < len(i):
            i, j, start, end = i.take(rows), j.take(rows), start.take(rows), end.take(rows)
        return _Met(tuples, i, j, start, np.minimum(end, partial.end.take(i), out=end))

    def _children(self, partial: Partial, found: Sequence[_Met]) -> Iterator[Partial]:
        """What was found as one vector, without what a demand drops."""
        if not found:
            return
        i, start = _concat([met.i for met in found]), _concat([met.start for met in found])
        end = _concat([met.end for met in found])
        new = Part.joined([Part(met.tuples, met.j) for met in found])
        for demand in self.demands:
            # Of those met before, a lane is gathered once for all their partners: it is shorter.
            lanes = [
                new.lane(column) if input_ == self.input else partial.lane(input_, column).take(i)
                for input_, column in demand.reads
            ]
            holds = demand.condition.holds_on(lanes, len(i))
            if not holds.all():
                i, start, end, new = i[holds], start[holds], end[holds], new.take(holds)
        codes = {a: lane.take(i) for a, lane in partial.codes.items() if a in self.needed}
        if len(i):
            yield Partial(
                {**{other: part.take(i) for other, part in partial.bound.items()}, self.input: new},
                start,
                end,
                codes | {attribute: new.lane(place) for attribute, place in self.carried},
            )


def _concat(parts: Sequence[Lane]) -> Ints:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
