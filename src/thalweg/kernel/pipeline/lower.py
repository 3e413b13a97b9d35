"""Lowering: one physical operator, or a few, for each node of a logical plan. Equal sub-plans share their operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Named,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
    keeps_arrival_order,
)
from thalweg.core.depth import words_for_depth
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operators import group_by, negation, nrr_join, r_stream, relation_to_stream, select, top_k
from thalweg.kernel.operators.expire import Expire
from thalweg.kernel.pipeline.buffers import BufferSettings
from thalweg.kernel.pipeline.builder import MakeOperator, PipelineBuilder, PipelineTemplate, PlaceByPlan, columns
from thalweg.kernel.pipeline.composed_joins import JoinInput, join, semi_join
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.multi_joins import multi_join
from thalweg.kernel.pipeline.ordered_joins import OrderedJoins
from thalweg.kernel.pipeline.partial_aggregates import combined_columns, combining_aggregates, uses_partial_aggregates
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.plan_properties import deletes_early, is_selected_window, needs_dates, window_of
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.strategy import Strategy, check_strategy, knows_ends
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.kernel.windows import make_window
from thalweg.patterns import BufferKind, derive, has_orders, is_direct, prefers_orders, side_buffer


@words_for_depth()
def build(
    plan: Plan,
    strategy: Strategy = Strategy.AUTO,
    pool: StringPool | None = None,
    settings: Settings | None = None,
    tuning: Tuning = DEFAULT,
) -> Pipeline:
    """The pipeline that keeps a plan's answer up to date."""
    return lower(plan, strategy, settings, tuning).build(pool)


@words_for_depth()
def lower(
    plan: Plan,
    strategy: Strategy = Strategy.AUTO,
    settings: Settings | None = None,
    tuning: Tuning = DEFAULT,
) -> PipelineTemplate:
    """The template of the pipeline that keeps a plan's answer up to date."""
    settings = settings or Settings()
    check_strategy(plan, strategy)
    buffers = BufferSettings(settings.partitions, settings.lazy, strategy.layout, tuning, settings.most_results)
    builder = PipelineBuilder(needs_dates(plan), buffers)
    known = LoweredPlans({}, {}, {})
    Lowering(builder, known, knows_ends(plan, strategy), strategy, settings).place(plan)
    return builder.template(Identity.of(plan, strategy.value), known.places)


class LoweredPlans(NamedTuple):
    """The places of plans that have been lowered: with EXPIRE, without EXPIRE, and with arrival numbers for joins."""

    places: PlaceByPlan
    unexpired: PlaceByPlan
    numbered: PlaceByPlan


class Lowering:
    """Adds the operators of plans to a builder, except for plans that have been lowered before."""

    def __init__(
        self,
        builder: PipelineBuilder,
        known: LoweredPlans,
        knows_ends: Callable[[Plan], bool],
        strategy: Strategy,
        settings: Settings,
    ) -> None:
        self.builder = builder
        self._settings = settings
        self._strategy = strategy
        self._above_negation = settings.above_negation if strategy is Strategy.AUTO else "direct"
        self._knows_ends = knows_ends
        self._ordered = OrderedJoins(builder, self.place, known.numbered)
        self._places, self._unexpired_places = known.places, known.unexpired

    def place(self, plan: Plan) -> int:
        """The place of the node that gives the plan's results."""
        if plan not in self._places:
            place = self._unexpired(plan)
            if is_selected_window(plan):
                if self._knows_ends(window_of(plan)):
                    self.builder.announce(place)
                else:
                    place = self._expire(plan.schema, place)
            elif self._above_negation == "hybrid" and deletes_early(plan):
                place = self._expire(plan.schema, place)
            self._places[plan] = place
        return self._places[plan]

    def _expire(self, schema: Schema, place: int) -> int:
        return self.builder.add(schema, lambda _: Expire(schema), place, wakes=True)

    def _unexpired(self, plan: Plan) -> int:
        """The place of the plan's results before EXPIRE."""
        if plan not in self._unexpired_places:
            self._unexpired_places[plan] = self._lower(plan)
        return self._unexpired_places[plan]

    def _below(self, plan: Plan) -> int:
        """The input of a selection or projection; above a window these come before EXPIRE (GhanemEtAl2007 §5.2)."""
        return self._unexpired(plan) if is_selected_window(plan) else self.place(plan)

    def _side(self, plan: Plan) -> JoinInput:
        kind = side_buffer(derive(plan)).kind
        if self._above_negation == "partitions" and any(map(deletes_early, plan.walk())):
            kind = BufferKind.PARTITIONS
        return JoinInput(self.place(plan), self._is_direct(plan), kind)

    def _is_direct(self, plan: Plan) -> bool:
        windows = (node for node in plan.walk() if isinstance(node, Windowed))
        return is_direct(plan, self.builder.dated) and all(map(self._knows_ends, windows))

    def _by_order(self, plan: Join) -> bool:
        """Whether a join is run by OrderedJoin."""
        if self._strategy is Strategy.ORD:
            return has_orders(plan)
        return self._strategy is Strategy.AUTO and prefers_orders(plan)

    def _lower(self, plan: Plan) -> int:
        builder = self.builder
        match plan:
            case StreamScan(source) | RelationScan(source):
                return builder.source(source.schema, source.name)
            case Windowed():
                return self._window(plan)
            case Select(child, predicate):
                below, schema = self._below(child), child.schema
                return builder.add(plan.schema, lambda pool: select.Select(schema, predicate, pool), below)
            case Project(child, items):
                return builder.project(self._below(child), items)
            case Union(left, right):
                return builder.union(self.place(left), self.place(right))
            case Join() if self._by_order(plan):
                return self._ordered.join(plan)
            case Join(left, right, condition, kind):
                return join(builder, self._side(left), self._side(right), condition, kind)
            case MultiJoin():
                sides = [self._side(child) for child in plan.inputs]
                return multi_join(builder, plan, sides, self._settings, self._strategy)
            case SemiJoin(left, right, condition, anti):
                return semi_join(builder, self._side(left), self._side(right), condition, anti)
            case NrrJoin():
                return self._nrr_join(plan)
            case Distinct(child):
                return builder.distinct(self.place(child), self._is_direct(child))
            case GroupBy():
                return self._group_by(plan)
            case Negation(on=on):
                return self._negation(plan, on)
            case Intersect(left):  # L intersect R = L - (L - R)
                whole = tuple((i, i) for i in range(len(plan.schema)))
                return builder.minus(self.place(left), self._negation(plan, whole))
            case TopK():
                return self._top_k(plan)
            case IStream(child) | DStream(child) | RStream(child):
                below = self.place(child)
                return builder.add(plan.schema, self._to_stream(plan, child), below, emits_changes=True)
            case _:
                assert_never(plan)

    def _window(self, plan: Windowed) -> int:
        builder, child = self.builder, plan.child
        window, schema, dated, derived = plan.window, child.schema, builder.dated, not keeps_arrival_order(child)
        return builder.add(
            plan.schema,
            lambda pool: make_window(window, schema, pool, dated, derived),
            self.place(child),
            wakes=True,
        )

    def _nrr_join(self, plan: NrrJoin) -> int:
        left, right, condition, kind = plan.left.schema, plan.right.schema, plan.condition, plan.kind
        return self.builder.add(
            plan.schema,
            lambda pool: nrr_join.NrrJoin(left, right, condition, kind, pool),
            self.place(plan.left),
            self.place(plan.right),
        )

    def _group_by(self, plan: GroupBy) -> int:
        """A projection below computes keys and arguments, so that the operator reads plain columns."""
        needed = [Named(a.aggregate.argument, a.name) for a in plan.aggregates if a.aggregate.argument is not None]
        below = self.builder.project(self.place(plan.child), (*plan.keys, *needed))
        places = iter(range(len(plan.keys), len(plan.keys) + len(needed)))
        specs = [(a.aggregate, None if a.aggregate.argument is None else next(places)) for a in plan.aggregates]
        keys, schema, builder = range(len(plan.keys)), self.builder.schema(below), self.builder
        is_partial = uses_partial_aggregates(plan, self._settings.in_parts)
        direct, dated = self._is_direct(plan.child), builder.dated
        place = builder.add(
            plan.schema, lambda pool: group_by.GroupBy(keys, specs, schema, pool, dated, direct, is_partial), below
        )
        return self._combine(plan, place) if is_partial else place

    def _combine(self, plan: GroupBy, place: int) -> int:
        """Combine partial aggregates into the aggregates of all tuples."""
        builder, combined = self.builder, combining_aggregates(plan.aggregates, plan.schema)
        schema = Schema(tuple(Field(a.name, c.type) for a, c in zip(plan.aggregates, combined, strict=True)))
        specs = [(aggregate, i) for i, aggregate in enumerate(combined)]
        below, dated = plan.schema, builder.dated
        whole = builder.add(schema, lambda pool: group_by.GroupBy((), specs, below, pool, dated), place)
        return builder.project(whole, combined_columns(plan.aggregates, schema))

    def _negation(self, plan: Negation | Intersect, on: Sequence[tuple[int, int]]) -> int:
        left, right = plan.left.schema, plan.right.schema
        direct, dated = self._is_direct(plan.left), self.builder.dated
        return self.builder.add(
            left,
            lambda pool: negation.Negation(left, right, on, pool, ordered=dated, direct=direct),
            self.place(plan.left),
            self.place(plan.right),
        )

    def _top_k(self, plan: TopK) -> int:
        """A projection below computes the sort keys as further columns, and a projection above drops them."""
        builder, own = self.builder, columns(plan.schema)
        keys = [Named(key.expression, f"key{i}") for i, key in enumerate(plan.keys)]
        below = builder.project(self.place(plan.child), [*own, *keys])
        order = [(len(own) + i, key.descending, key.nulls_first) for i, key in enumerate(plan.keys)]
        schema, direct = builder.schema(below), self._is_direct(plan.child)
        limit, dated, tuning = plan.limit, builder.dated, builder.settings.tuning
        above = builder.add(
            schema,
            lambda pool: top_k.TopK(schema, order, limit, pool, dated=dated, known_ends=direct, tuning=tuning),
            below,
        )
        return builder.project(above, own)

    def _to_stream(self, plan: IStream | DStream | RStream, child: Plan) -> MakeOperator:
        schema, dated = child.schema, self.builder.dated
        match plan:
            case IStream():
                return lambda _: relation_to_stream.IStream(schema, dated=dated)
            case DStream():
                return lambda _: relation_to_stream.DStream(schema, dated=dated)
            case RStream():
                return lambda _: r_stream.RStream(schema)
            case _:
                assert_never(plan)
