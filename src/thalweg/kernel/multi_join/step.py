"""One step of a walk: partial results are joined with one more input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.time import BEGINNING
from thalweg.kernel.multi_join.partial import InputRows, PartialResults, ScatteredRows
from thalweg.kernel.multi_join.step_predicate import StepPredicate
from thalweg.kernel.multi_join.view import Candidates, InputView
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.pairs import pairs
from thalweg.kernel.tuning import Tuning


@dataclass(frozen=True)
class WalkStep:
    """The next input, and the attributes (with the columns of their codes) that it `shared` with earlier inputs.

    The first shared attribute is looked up, or all tuples are scanned if it has no index; the others are compared.
    Then the `predicates` are applied in their order. `carried` are the attributes, with their columns, whose codes come
    from this input, and `needed` those that later steps compare. The results of the last step stay scattered over
    several runs, because no later step reads them.
    """

    input: int
    shared: tuple[tuple[int, int], ...]
    carried: tuple[tuple[int, int], ...]
    needed: frozenset[int]
    predicates: tuple[StepPredicate, ...]
    is_last: bool
    tuning: Tuning

    def begin(self, view: InputView) -> Iterator[PartialResults]:
        """All tuples of the input, as partial results."""
        for tuples in view.everything():
            part = InputRows(tuples, np.arange(len(tuples.end)))
            start = np.full(len(tuples.end), BEGINNING) if isinstance(tuples, TupleRun) else tuples.start
            codes = {attribute: tuples.columns[column] for attribute, column in self.carried}
            yield PartialResults({self.input: part}, start, tuples.end, codes)

    def extend(
        self, partial: PartialResults, view: InputView, counts: list[int], source: int
    ) -> Iterator[PartialResults]:
        """Join partial results with the input; the number of comparisons is added to counts[source]."""
        if self.shared and view.is_indexed_by(self.shared[0][0]):
            attribute, column = self.shared[0]
            for i, new in view.probe(attribute, column, partial.codes[attribute], partial.start, partial.end):
                counts[source] += len(i)
                yield from self._extended(partial, i, new)
            return
        for i, new in self._scan(partial, view, counts, source):
            yield from self._extended(partial, i, new)

    def _scan(self, partial: PartialResults, view: InputView, counts: list[int], source: int) -> Iterator[Candidates]:
        """Compare every partial result with every tuple, block by block; pairs are collected until there are many."""
        collected: list[Candidates] = []
        for tuples in view.everything():
            counts[source] += len(partial) * len(tuples.end)
            for i, j in self._compared(partial, tuples):
                collected.append(Candidates(i, ScatteredRows(((tuples, j),))))
                if sum(len(some.rows) for some in collected) >= self.tuning.partials_at_once:
                    yield _concat(collected)
                    collected = []
        if collected:
            yield _concat(collected)

    def _compared(self, partial: PartialResults, tuples: Batch | TupleRun) -> Iterator[tuple[Ints, Ints]]:
        """The pairs with equal codes of the first shared attribute; all pairs if there is none."""
        size = len(tuples.end)
        if not self.shared:
            first, count = np.zeros(len(partial), dtype=np.int64), np.full(len(partial), size)
            yield from pairs(first, count, self.tuning.pairs_at_once)
            return
        attribute, column = self.shared[0]
        codes, candidates = partial.codes[attribute], tuples.columns[column]
        block = max(1, self.tuning.comparisons_at_once // max(1, size))
        for begin in range(0, len(partial), block):
            cells = np.flatnonzero(codes[begin : begin + block, None] == candidates)
            i = cells // size
            yield i + begin, cells - i * size

    def _extended(self, partial: PartialResults, i: Ints, new: ScatteredRows) -> Iterator[PartialResults]:
        """The pairs that are alive together, have equal codes of all shared attributes and satisfy all predicates.

        If there are predicates, intervals are computed only for the pairs that satisfy them.
        """
        interval = None if self.predicates else new.interval(partial, i)
        kept = new.alive(partial, i) if interval is None else interval[0] < interval[1]
        for attribute, column in self.shared[1:]:
            equal = partial.codes[attribute].take(i) == new.lane(column)
            kept = equal if kept is None else kept & equal
        for predicate in (None, *self.predicates):
            if predicate is not None:
                kept = predicate.holds(partial, i, new)
            if kept is None or kept.all():
                continue
            rows = kept.nonzero()[0]
            if not len(rows):
                return
            i, new = i.take(rows), new.take(rows)
            interval = None if interval is None else (interval[0].take(rows), interval[1].take(rows))
        start, end = interval or new.interval(partial, i)
        part = new if self.is_last else new.gathered()
        codes = {a: lane.take(i) for a, lane in partial.codes.items() if a in self.needed}
        yield PartialResults(
            {**{other: rows.take(i) for other, rows in partial.rows.items()}, self.input: part},
            start,
            end,
            codes | {attribute: part.lane(column) for attribute, column in self.carried},
        )


def _concat(found: Sequence[Candidates]) -> Candidates:
    if len(found) == 1:
        return found[0]
    return Candidates(
        np.concatenate([some.rows for some in found]),
        ScatteredRows(tuple(p for some in found for p in some.tuples.pieces)),
    )
