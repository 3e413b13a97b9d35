"""Walks: the way of new tuples of a source through all inputs, in an order of its own (GolabOzsu2003 §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.algebra.plan import JoinGraph
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.kernel.multi_join.coded import Coding
from thalweg.kernel.multi_join.demand import Demand
from thalweg.kernel.multi_join.partial import Partial
from thalweg.kernel.multi_join.ranks import rank
from thalweg.kernel.multi_join.step import Step
from thalweg.kernel.multi_join.view import View


class Planned:
    """What all walks of a join are made of: codings, and the predicates of two inputs or more by rank."""

    def __init__(self, graph: JoinGraph, schema: Schema, codings: Sequence[Coding], pool: StringPool) -> None:
        self.codings = codings
        self._graph, self._schema, self._pool = graph, schema, pool
        self._predicates = sorted((part for part in graph.rest if len(graph.inputs_of(part)) > 1), key=rank)

    def steps(self, order: Sequence[int], statistics: Sequence[StreamStatistics] | None) -> tuple[Step, ...]:
        """The steps of a walk. Of several shared attributes the one with the most values is looked up."""
        return tuple(self._step(order, place, statistics) for place in range(len(order)))

    def _step(self, order: Sequence[int], place: int, statistics: Sequence[StreamStatistics] | None) -> Step:
        before, new, later = order[:place], order[place], order[place + 1 :]
        known = {a for i in before for a in self.codings[i].attributes}
        wanted = frozenset(a for i in later for a in self.codings[i].attributes)
        coding = self.codings[new]
        shared = [a for a in coding.attributes if a in known]
        if statistics is not None:
            shared.sort(key=lambda a: -(statistics[new].distinct[a] or 0))
        carried = [a for a in coding.attributes if a in wanted and a not in known]
        met = {*before, new}
        inputs_of, offsets = self._graph.inputs_of, self._graph.offsets
        asked = [part for part in self._predicates if inputs_of(part) <= met and new in inputs_of(part)]
        return Step(
            new,
            tuple((a, coding.place(a)) for a in shared),
            tuple((a, coding.place(a)) for a in carried),
            wanted,
            tuple(Demand(part, new, self._schema, offsets, self._pool) for part in asked),
            not later,
        )


def walk(steps: Sequence[Step], views: Sequence[View], counts: list[int], source: int) -> Iterator[Partial]:
    """All whole results, depth first, so that few partial ones wait."""
    for partial in steps[0].begin(views[steps[0].input]):
        yield from _go_on(partial, steps[1:], views, counts, source)


def _go_on(
    partial: Partial, steps: Sequence[Step], views: Sequence[View], counts: list[int], source: int
) -> Iterator[Partial]:
    if not steps:
        yield partial
        return
    for child in steps[0].extend(partial, views[steps[0].input], counts, source):
        yield from _go_on(child, steps[1:], views, counts, source)
