"""Walks: join the new tuples of a source with all other inputs, in the source's own order (GolabOzsu2003 §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.algebra.plan import JoinGraph
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.kernel.multi_join.coding import InputCoding
from thalweg.kernel.multi_join.partial import PartialResults
from thalweg.kernel.multi_join.ranks import rank
from thalweg.kernel.multi_join.step import WalkStep
from thalweg.kernel.multi_join.step_predicate import StepPredicate
from thalweg.kernel.multi_join.view import InputView
from thalweg.kernel.tuning import Tuning


class WalkPlanner:
    """Makes the steps of walks, from the codings of the inputs and the predicates over two inputs or more."""

    def __init__(
        self, graph: JoinGraph, schema: Schema, codings: Sequence[InputCoding], pool: StringPool, tuning: Tuning
    ) -> None:
        self.codings = codings
        self._graph, self._schema, self._pool, self._tuning = graph, schema, pool, tuning
        self._predicates = sorted((part for part in graph.rest if len(graph.inputs_of(part)) > 1), key=rank)

    def steps(self, order: Sequence[int], statistics: Sequence[StreamStatistics] | None) -> tuple[WalkStep, ...]:
        """The steps of a walk. Of several shared attributes the one with the most distinct values is looked up."""
        return tuple(self._step(order, place, statistics) for place in range(len(order)))

    def _step(self, order: Sequence[int], place: int, statistics: Sequence[StreamStatistics] | None) -> WalkStep:
        before, new, later = order[:place], order[place], order[place + 1 :]
        known = {a for i in before for a in self.codings[i].attributes}
        wanted = frozenset(a for i in later for a in self.codings[i].attributes)
        coding = self.codings[new]
        shared = [a for a in coding.attributes if a in known]
        if statistics is not None:
            shared.sort(key=lambda a: -(statistics[new].distinct[a] or 0))
        carried = [a for a in coding.attributes if a in wanted and a not in known]
        joined = {*before, new}
        inputs_of, offsets = self._graph.inputs_of, self._graph.offsets
        due = [part for part in self._predicates if inputs_of(part) <= joined and new in inputs_of(part)]
        return WalkStep(
            new,
            tuple((a, coding.code_column(a)) for a in shared),
            tuple((a, coding.code_column(a)) for a in carried),
            wanted,
            tuple(StepPredicate(part, new, self._schema, offsets, self._pool) for part in due),
            not later,
            self._tuning,
        )


def walk(
    steps: Sequence[WalkStep], views: Sequence[InputView], counts: list[int], source: int
) -> Iterator[PartialResults]:
    """All results of a walk, depth first, so that few partial results exist at a time."""
    for partial in steps[0].begin(views[steps[0].input]):
        yield from _continue(partial, steps[1:], views, counts, source)


def _continue(
    partial: PartialResults, steps: Sequence[WalkStep], views: Sequence[InputView], counts: list[int], source: int
) -> Iterator[PartialResults]:
    if not steps:
        yield partial
        return
    for child in steps[0].extend(partial, views[steps[0].input], counts, source):
        yield from _continue(child, steps[1:], views, counts, source)
