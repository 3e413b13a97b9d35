"""Joins whose tuples carry the order of their arrival, so that results are found by who leaves."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Join, Named, Plan, Project, Select, Windowed
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operators.number import Number, numbered
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.operators.select import Select as Selection
from thalweg.kernel.pipeline.buffers import join_buffers
from thalweg.kernel.pipeline.builder import Places, Stages
from thalweg.kernel.windows import make_window
from thalweg.patterns import derive


class OrderedJoins:
    """The plans below such joins once more, with the number of each tuple as a last column."""

    def __init__(self, stages: Stages, place: Callable[[Plan], int], places: Places) -> None:
        """`place` tells where a base stream comes from, `places` what has been lowered already."""
        self._stages = stages
        self._source = place
        self._places = places

    def join(self, plan: Join) -> int:
        """A join that `patterns.has_orders`."""
        stages = self._stages
        left, right = self._numbered(plan.left), self._numbered(plan.right)
        edges, settings, dated = (derive(plan.left), derive(plan.right)), stages.settings, stages.dated
        a, b, condition = stages.schema(left), stages.schema(right), plan.condition

        def make(pool: StringPool) -> OrderedJoin:
            return OrderedJoin(a, b, condition, pool, dated, buffers=join_buffers(*edges, settings))

        return stages.add(plan.schema, make, left, right)

    def _numbered(self, plan: Plan) -> int:
        if plan not in self._places:
            self._places[plan] = self._lower(plan)
        return self._places[plan]

    def _lower(self, plan: Plan) -> int:
        """The number passes through selections and windows like any column, and projections keep it."""
        stages = self._stages
        match plan:
            case Select(child, predicate):
                below = self._numbered(child)
                schema = stages.schema(below)
                return stages.add(schema, lambda pool: Selection(schema, predicate, pool), below)
            case Project(child, items):
                below = self._numbered(child)
                return stages.project(below, [*items, _number(stages.schema(below))])
            case Windowed(child, window):
                below = self._numbered(child)
                schema, dated = stages.schema(below), stages.dated
                return stages.add(schema, lambda pool: make_window(window, schema, pool, dated, derived=False), below)
        return stages.add(numbered(plan.schema), lambda _: Number(), self._source(plan))


def _number(schema: Schema) -> Named:
    return Named(column(schema, len(schema) - 1), schema.names[-1])
