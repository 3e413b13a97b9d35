"""One operator, or a few, for each node of a plan. Equal sub-plans are run once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

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
from thalweg.core.errors import PlanError
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operators import group_by, negation, nrr_join, r_stream, relation_to_stream, select, top_k
from thalweg.kernel.operators.expire import Expire
from thalweg.kernel.pipeline.buffers import BufferSettings
from thalweg.kernel.pipeline.builder import MakeOperator, PipelineTemplate, Places, Stages, columns
from thalweg.kernel.pipeline.composed_joins import Side, join, semi_join
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.multi_joins import multi_join
from thalweg.kernel.pipeline.ordered_joins import OrderedJoins
from thalweg.kernel.pipeline.partial_aggregates import goes_in_parts, put_together, shown
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.shape import deletes_early, is_selected_window, needs_dates, window_of
from thalweg.kernel.pipeline.strategy import Strategy, check_strategy, knows_ends
from thalweg.kernel.windows import make_window
from thalweg.patterns import BufferKind, derive, has_orders, is_direct, prefers_orders, side_buffer


def build(
    plan: Plan,
    strategy: Strategy = Strategy.AUTO,
    pool: StringPool | None = None,
    settings: Settings | None = None,
) -> Pipeline:
    """The pipeline that keeps a plan's answer up to date."""
    return lower(plan, strategy, settings).build(pool)


def lower(plan: Plan, strategy: Strategy = Strategy.AUTO, settings: Settings | None = None) -> PipelineTemplate:
    """The same before its operators are made."""
    settings = settings or Settings()
    check_strategy(plan, strategy)
    stages = Stages(needs_dates(plan), BufferSettings(settings.partitions, settings.lazy, strategy.layout))
    known = Known({}, {}, {})
    Lowering(stages, known, knows_ends(plan, strategy), strategy, settings).place(plan)
    return stages.template(Identity.of(plan, strategy.value), known.places)


class Known(NamedTuple):
    """What has been lowered already: plans, the same before EXPIRE is put on them, and with numbers for joins."""

    places: Places
    unexpired: Places
    numbered: Places


class Lowering:
    """Puts the operators of plans among the stages; what is known already is not put there again."""

    def __init__(
        self,
        stages: Stages,
        known: Known,
        knows_ends: Callable[[Plan], bool],
        strategy: Strategy,
        settings: Settings,
    ) -> None:
        self.stages = stages
        self._settings = settings
        self._strategy = strategy
        self._above_negation = settings.above_negation if strategy is Strategy.AUTO else "direct"
        self._knows_ends = knows_ends
        self._ordered = OrderedJoins(stages, self.place, known.numbered)
        self._places, self._unexpired_places = known.places, known.unexpired

    def place(self, plan: Plan) -> int:
        """Where the plan's output is produced."""
        if plan not in self._places:
            place = self._unexpired(plan)
            if is_selected_window(plan):
                if self._knows_ends(window_of(plan)):
                    self.stages.announce(place)
                else:
                    place = self._expire(plan.schema, place)
            elif self._above_negation == "hybrid" and deletes_early(plan):
                place = self._expire(plan.schema, place)
            self._places[plan] = place
        return self._places[plan]

    def _expire(self, schema: Schema, place: int) -> int:
        return self.stages.add(schema, lambda _: Expire(schema), place, wakes=True)

    def _unexpired(self, plan: Plan) -> int:
        """The same before EXPIRE is put on it."""
        if plan not in self._unexpired_places:
            self._unexpired_places[plan] = self._lower(plan)
        return self._unexpired_places[plan]

    def _below(self, plan: Plan) -> int:
        """The input of a selection or projection: above a window these come before EXPIRE (GhanemEtAl2007 §5.2)."""
        return self._unexpired(plan) if is_selected_window(plan) else self.place(plan)

    def _side(self, plan: Plan) -> Side:
        kind = side_buffer(derive(plan)).kind
        if self._above_negation == "partitions" and any(map(deletes_early, plan.walk())):
            kind = BufferKind.PARTITIONS
        return Side(self.place(plan), self._is_direct(plan), kind)

    def _is_direct(self, plan: Plan) -> bool:
        windows = (node for node in plan.walk() if isinstance(node, Windowed))
        return is_direct(plan, self.stages.dated) and all(map(self._knows_ends, windows))

    def _by_order(self, plan: Join) -> bool:
        """Whether a join's results are found by order of expiration."""
        if self._strategy is Strategy.ORD:
            return has_orders(plan)
        return self._strategy is Strategy.AUTO and prefers_orders(plan)

    def _lower(self, plan: Plan) -> int:
        stages = self.stages
        match plan:
            case StreamScan(source) | RelationScan(source):
                return stages.source(source.schema, source.name)
            case Windowed():
                return self._window(plan)
            case Select(child, predicate):
                below, schema = self._below(child), child.schema
                return stages.add(plan.schema, lambda pool: select.Select(schema, predicate, pool), below)
            case Project(child, items):
                return stages.project(self._below(child), items)
            case Union(left, right):
                return stages.union(self.place(left), self.place(right))
            case Join() if self._by_order(plan):
                return self._ordered.join(plan)
            case Join(left, right, condition, kind):
                return join(stages, self._side(left), self._side(right), condition, kind)
            case MultiJoin():
                sides = [self._side(child) for child in plan.inputs]
                return multi_join(stages, plan, sides, self._settings, self._strategy)
            case SemiJoin(left, right, condition, anti):
                return semi_join(stages, self._side(left), self._side(right), condition, anti)
            case NrrJoin():
                return self._nrr_join(plan)
            case Distinct(child):
                return stages.distinct(self.place(child), self._is_direct(child))
            case GroupBy():
                return self._group_by(plan)
            case Negation(on=on):
                return self._negation(plan, on)
            case Intersect(left):  # what the negation would leave out
                whole = tuple((i, i) for i in range(len(plan.schema)))
                return stages.minus(self.place(left), self._negation(plan, whole))
            case TopK():
                return self._top_k(plan)
            case IStream(child) | DStream(child) | RStream(child):
                below = self.place(child)
                return stages.add(plan.schema, self._to_stream(plan, child), below, tells_changes=True)
        raise PlanError(f"the kernel has no operator for {plan.label}")

    def _window(self, plan: Windowed) -> int:
        stages, child = self.stages, plan.child
        window, schema, dated, derived = plan.window, child.schema, stages.dated, not keeps_arrival_order(child)
        return stages.add(
            plan.schema,
            lambda pool: make_window(window, schema, pool, dated, derived),
            self.place(child),
            wakes=True,
        )

    def _nrr_join(self, plan: NrrJoin) -> int:
        left, right, condition, kind = plan.left.schema, plan.right.schema, plan.condition, plan.kind
        return self.stages.add(
            plan.schema,
            lambda pool: nrr_join.NrrJoin(left, right, condition, kind, pool),
            self.place(plan.left),
            self.place(plan.right),
        )

    def _group_by(self, plan: GroupBy) -> int:
        """Keys and arguments are computed below, so that the operator sees plain columns."""
        needed = [Named(a.aggregate.argument, a.name) for a in plan.aggregates if a.aggregate.argument is not None]
        below = self.stages.project(self.place(plan.child), (*plan.keys, *needed))
        places = iter(range(len(plan.keys), len(plan.keys) + len(needed)))
        specs = [(a.aggregate, None if a.aggregate.argument is None else next(places)) for a in plan.aggregates]
        keys, schema, stages = range(len(plan.keys)), self.stages.schema(below), self.stages
        is_part = goes_in_parts(plan, self._settings.in_parts)
        direct, dated = self._is_direct(plan.child), stages.dated
        place = stages.add(
            plan.schema, lambda pool: group_by.GroupBy(keys, specs, schema, pool, dated, direct, is_part), below
        )
        return self._put_together(plan, place) if is_part else place

    def _put_together(self, plan: GroupBy, place: int) -> int:
        """A global aggregate, given those of parts."""
        stages, parts = self.stages, put_together(plan.aggregates, plan.schema)
        schema = Schema(tuple(Field(a.name, part.type) for a, part in zip(plan.aggregates, parts, strict=True)))
        specs = [(part, i) for i, part in enumerate(parts)]
        below, dated = plan.schema, stages.dated
        whole = stages.add(schema, lambda pool: group_by.GroupBy((), specs, below, pool, dated), place)
        return stages.project(whole, shown(plan.aggregates, schema))

    def _negation(self, plan: Negation | Intersect, on: Sequence[tuple[int, int]]) -> int:
        left, right = plan.left.schema, plan.right.schema
        direct, dated = self._is_direct(plan.left), self.stages.dated
        return self.stages.add(
            left,
            lambda pool: negation.Negation(left, right, on, pool, ordered=dated, direct=direct),
            self.place(plan.left),
            self.place(plan.right),
        )

    def _top_k(self, plan: TopK) -> int:
        """Sort keys are computed below as further columns, and dropped above."""
        stages, own = self.stages, columns(plan.schema)
        keys = [Named(key.expression, f"key{i}") for i, key in enumerate(plan.keys)]
        below = stages.project(self.place(plan.child), [*own, *keys])
        order = [(len(own) + i, key.descending, key.nulls_first) for i, key in enumerate(plan.keys)]
        schema, direct = stages.schema(below), self._is_direct(plan.child)
        limit, dated = plan.limit, stages.dated
        above = stages.add(
            schema, lambda pool: top_k.TopK(schema, order, limit, pool, dated=dated, known_ends=direct), below
        )
        return stages.project(above, own)

    def _to_stream(self, plan: Plan, child: Plan) -> MakeOperator:
        schema, dated = child.schema, self.stages.dated
        match plan:
            case IStream():
                return lambda _: relation_to_stream.IStream(schema, dated=dated)
            case DStream():
                return lambda _: relation_to_stream.DStream(schema, dated=dated)
        return lambda _: r_stream.RStream(schema)
