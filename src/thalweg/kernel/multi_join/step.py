"""One step of a walk: partial results meet one more input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.time import BEGINNING
from thalweg.kernel.multi_join.candidates import Candidates
from thalweg.kernel.multi_join.demand import Demand
from thalweg.kernel.multi_join.partial import Part, Partial, Spread
from thalweg.kernel.multi_join.view import View
from thalweg.kernel.state.run import Run
from thalweg.kernel.sweep.pairs import pairs

_PIECE = 1 << 15  # partial results that are worth going on with
_CELLS = 1 << 20  # comparisons of a scan at a time


@dataclass(frozen=True)
class Step:
    """The input to meet, by the attributes (with the columns of their codes there) that it shares with those before.

    The first attribute is looked up, or all is scanned if it has no index; the others are compared. Then `demands`
    are made, in their order. `carried` are the attributes, with their columns, whose codes come from this input, and
    `needed` those that later steps ask for. What the last step finds may lie in several places: nothing looks it up.
    """

    input: int
    shared: tuple[tuple[int, int], ...]
    carried: tuple[tuple[int, int], ...]
    needed: frozenset[int]
    demands: tuple[Demand, ...]
    is_last: bool

    def begin(self, view: View) -> Iterator[Partial]:
        """All tuples of the input, as the first part of results."""
        for tuples in view.everything():
            part = Part(tuples, np.arange(len(tuples.end)))
            start = np.full(len(tuples.end), BEGINNING) if isinstance(tuples, Run) else tuples.start
            codes = {attribute: tuples.columns[place] for attribute, place in self.carried}
            yield Partial({self.input: part}, start, tuples.end, codes)

    def extend(self, partial: Partial, view: View, counts: list[int], source: int) -> Iterator[Partial]:
        """The partial results with all their partners; the comparisons are added to those of the source."""
        if self.shared and view.is_indexed_by(self.shared[0][0]):
            attribute, place = self.shared[0]
            for i, new in view.probe(attribute, place, partial.codes[attribute], partial.start, partial.end):
                counts[source] += len(i)
                yield from self._children(partial, i, new)
            return
        for i, new in self._scan(partial, view, counts, source):
            yield from self._children(partial, i, new)

    def _scan(self, partial: Partial, view: View, counts: list[int], source: int) -> Iterator[Candidates]:
        """Every partial result against every tuple, a block at a time; few pairs wait for more."""
        waiting: list[Candidates] = []
        for tuples in view.everything():
            counts[source] += len(partial) * len(tuples.end)
            for i, j in self._compared(partial, tuples):
                waiting.append(Candidates(i, Spread(((tuples, j),))))
                if sum(len(some.rows) for some in waiting) >= _PIECE:
                    yield _together(waiting)
                    waiting = []
        if waiting:
            yield _together(waiting)

    def _compared(self, partial: Partial, tuples: Batch | Run) -> Iterator[tuple[Ints, Ints]]:
        """The pairs that agree in the first attribute."""
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

    def _children(self, partial: Partial, i: Ints, new: Spread) -> Iterator[Partial]:
        """The pairs that are alive together, agree in all attributes and fulfil all demands, in this order.

        Where something is demanded, only what is left is told its interval.
        """
        interval = None if self.demands else new.interval(partial, i)
        kept = new.alive(partial, i) if interval is None else interval[0] < interval[1]
        for attribute, place in self.shared[1:]:
            agree = partial.codes[attribute].take(i) == new.lane(place)
            kept = agree if kept is None else kept & agree
        for demand in (None, *self.demands):
            if demand is not None:
                kept = demand.holds(partial, i, new)
            if kept is None or kept.all():
                continue
            rows = kept.nonzero()[0]
            if not len(rows):
                return
            i, new = i.take(rows), new.take(rows)
            interval = None if interval is None else (interval[0].take(rows), interval[1].take(rows))
        start, end = interval or new.interval(partial, i)
        part = new if self.is_last else new.together()
        codes = {a: lane.take(i) for a, lane in partial.codes.items() if a in self.needed}
        yield Partial(
            {**{other: part.take(i) for other, part in partial.bound.items()}, self.input: part},
            start,
            end,
            codes | {attribute: part.lane(place) for attribute, place in self.carried},
        )


def _together(found: Sequence[Candidates]) -> Candidates:
    if len(found) == 1:
        return found[0]
    return Candidates(
        np.concatenate([some.rows for some in found]), Spread(tuple(p for some in found for p in some.tuples.pieces))
    )
