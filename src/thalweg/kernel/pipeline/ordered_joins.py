"""Lowering of joins over physical windows to OrderedJoin, whose input tuples carry their arrival numbers."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Join, Named, Plan, Project, Select, Windowed
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operators.number import Number
from thalweg.kernel.operators.ordered_join import OrderedJoin
from thalweg.kernel.operators.select import Select as Selection
from thalweg.kernel.pipeline.buffers import join_buffers
from thalweg.kernel.pipeline.builder import PipelineBuilder, PlaceByPlan
from thalweg.kernel.sweep.ordered_join_side import numbered
from thalweg.kernel.windows import make_window
from thalweg.patterns import derive


class OrderedJoins:
    """Lowers the inputs of such joins with the arrival number of each tuple as the last column."""

    def __init__(self, builder: PipelineBuilder, place: Callable[[Plan], int], places: PlaceByPlan) -> None:
        """`place` lowers a base stream; `places` are the inputs that have been lowered with numbers."""
        self._builder = builder
        self._source = place
        self._places = places

    def join(self, plan: Join) -> int:
        """Add a join for which `patterns.has_orders` is true."""
        builder = self._builder
        left, right = self._numbered(plan.left), self._numbered(plan.right)
        edges, settings, dated = (derive(plan.left), derive(plan.right)), builder.settings, builder.dated
        a, b, condition = builder.schema(left), builder.schema(right), plan.condition

        def make(pool: StringPool) -> OrderedJoin:
            return OrderedJoin(
                a, b, condition, pool, dated,
                buffers=join_buffers(*edges, settings), tuning=settings.tuning, most_results=settings.most_results,
            )  # fmt: skip

        return builder.add(plan.schema, make, left, right)

    def _numbered(self, plan: Plan) -> int:
        if plan not in self._places:
            self._places[plan] = self._lower(plan)
        return self._places[plan]

    def _lower(self, plan: Plan) -> int:
        """Selections and windows pass the number on like any column; projections add it to their columns."""
        builder = self._builder
        match plan:
            case Select(child, predicate):
                below = self._numbered(child)
                schema = builder.schema(below)
                return builder.add(schema, lambda pool: Selection(schema, predicate, pool), below)
            case Project(child, items):
                below = self._numbered(child)
                return builder.project(below, [*items, _number(builder.schema(below))])
            case Windowed(child, window):
                below = self._numbered(child)
                schema, dated = builder.schema(below), builder.dated
                return builder.add(schema, lambda pool: make_window(window, schema, pool, dated, derived=False), below)
        return builder.add(numbered(plan.schema), lambda _: Number(), self._source(plan))


def _number(schema: Schema) -> Named:
    return Named(column(schema, len(schema) - 1), schema.names[-1])
