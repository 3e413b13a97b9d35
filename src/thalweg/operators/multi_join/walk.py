"""Walks: the way of new tuples of a source through all inputs, in an order of its own (seed 004, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import JoinGraph
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.operators.evaluate import Condition
from thalweg.operators.multi_join.coded import Coding
from thalweg.operators.multi_join.partial import Partial
from thalweg.operators.multi_join.ranks import rank
from thalweg.operators.multi_join.step import Demand, Step
from thalweg.operators.multi_join.view import View


class Planned:
    """What all walks of a join are made of: codings, and the predicates of two inputs or more by rank."""

    def __init__(self, graph: JoinGraph, schema: Schema, codings: Sequence[Coding], pool: StringPool) -> None:
        self.codings = codings
        rest = sorted((part for part in graph.rest if len(graph.inputs_of(part)) > 1), key=rank)
        self._demands = [(graph.inputs_of(part), _demand(part, schema, graph.offsets, pool)) for part in rest]

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
        demands = [demand for inputs, demand in self._demands if inputs <= met and new in inputs]
        return Step(
            new,
            tuple((a, coding.place(a)) for a in shared),
            tuple((a, coding.place(a)) for a in carried),
            wanted,
            tuple(demands),
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


def _demand(part: Expression, schema: Schema, offsets: Sequence[int], pool: StringPool) -> Demand:
    condition = Condition(part, schema, pool)

    def place(column: int) -> tuple[int, int]:
        input_ = max(i for i, offset in enumerate(offsets[:-1]) if offset <= column)
        return input_, column - offsets[input_]

    return Demand(condition, tuple(map(place, condition.reads)))
