"""Lowering of multi-way joins: the operator, its indexes, and the function that chooses its join orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thalweg.algebra.plan import (
    JoinGraph,
    MultiJoin,
    Plan,
    Project,
    RelationScan,
    Select,
    StreamScan,
    Windowed,
    join_graph,
)
from thalweg.core.errors import PlanError
from thalweg.core.stream_statistics import Orders, StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.kernel import multi_join as operators
from thalweg.kernel.pipeline.buffers import make_buffer
from thalweg.kernel.pipeline.builder import PipelineBuilder
from thalweg.kernel.pipeline.composed_joins import JoinInput
from thalweg.kernel.pipeline.settings import Settings
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.optimizer.join_orders import Algorithm, Method, choose_orders


def multi_join(
    builder: PipelineBuilder, plan: MultiJoin, sides: Sequence[JoinInput], settings: Settings, strategy: Strategy
) -> int:
    """Add the operator that the settings ask for."""
    _check(plan, settings, strategy)
    graph = join_graph(plan.condition, plan.offsets)
    indexed = _indexed(graph, settings)
    algorithm, interval = Algorithm(settings.algorithm), float(settings.reevaluate)

    def choose(streams: Sequence[StreamStatistics]) -> Orders:
        return choose_orders(streams, algorithm, indexed, interval, settings.order)

    lookups = [max(1, sum(i in a.inputs for a in graph.attributes)) if i in indexed else 1 for i in range(len(sides))]
    schemas, condition = [builder.schema(side.place) for side in sides], plan.condition
    buffer_settings, dated = builder.settings, builder.dated
    kinds = [[side.kind] * n for side, n in zip(sides, lookups, strict=True)]

    def make(pool: StringPool) -> operators.MultiJoin:
        options: dict[str, Any] = {
            "buffers": [[make_buffer(kind, buffer_settings) for kind in side] for side in kinds],
            "indexed": indexed,
            "choose": choose,
            "drift": settings.drift,
            "tuning": buffer_settings.tuning,
            "most_results": buffer_settings.most_results,
        }
        if settings.reevaluate:
            lazy = {**options, "interval": settings.reevaluate}
            return operators.LazyMultiJoin(schemas, condition, pool, dated, **lazy)
        return operators.MultiJoin(schemas, condition, pool, dated, **options)

    return builder.add(plan.schema, make, *(side.place for side in sides))


def _indexed(graph: JoinGraph, settings: Settings) -> frozenset[int]:
    """The inputs that have indexes. A hybrid join has indexes on the second half, unless the settings name others."""
    inputs = len(graph.offsets) - 1
    shared = frozenset(i for attribute in graph.attributes for i in attribute.inputs)
    match Method(settings.join):
        case Method.NESTED_LOOPS:
            return frozenset()
        case Method.HASH:
            return shared
        case Method.HYBRID:
            return shared & frozenset(settings.indexed if settings.indexed is not None else range(inputs // 2, inputs))


def _check(plan: MultiJoin, settings: Settings, strategy: Strategy) -> None:
    inputs = len(plan.inputs)
    if settings.order is not None and sorted(settings.order) != list(range(inputs)):
        raise PlanError(
            f"order={settings.order} does not name each of the join's {inputs} inputs, 0 to {inputs - 1}, once"
        )
    if settings.reevaluate and strategy.is_queued:
        raise PlanError(
            f"the strategy {strategy.value} evaluates a join with every tuple, so reevaluate={settings.reevaluate} "
            "cannot be kept",
            hint="strategies auto, nt, ord and direct evaluate joins at intervals",
        )
    returning = next((child for child in plan.inputs if not _never_returns(child)), None)
    if settings.reevaluate and returning is not None:
        raise PlanError(
            f"a join that is evaluated at intervals (reevaluate={settings.reevaluate}) joins windows, streams and "
            f"tables, but {returning.label} below it may delete a tuple and emit it again later",
            hint="evaluate it at once: reevaluate=0",
        )


def _never_returns(plan: Plan) -> bool:
    """Whether a tuple that has left never returns: then the time at which it is joined makes no difference."""
    while isinstance(plan, Select | Project):
        plan = plan.child
    return isinstance(plan, StreamScan | Windowed | RelationScan)
