"""The flow out of each operator, from those of its inputs (GolabOzsu2005 §5.4.1). One match for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, prod

from thalweg.algebra.expressions import Call, Column, Expression, conjuncts
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
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
)
from thalweg.algebra.windows import Now, PartitionedRows, Range, Rows, ValueRange, Window
from thalweg.core.errors import PlanError
from thalweg.core.time import SECOND, Clock
from thalweg.optimizer.flow import Flow, Surplus, capped
from thalweg.optimizer.selectivity import RANGE, selectivity, values
from thalweg.optimizer.statistics import ASSUMED_DISTINCT, ASSUMED_RATE, ASSUMED_ROWS, Statistics

HORIZON = 3600.0  # how much of what never ends is thought of, in seconds, or ticks


def unit(plan: Plan) -> float:
    """The ticks of a second, or one tick where a stream just counts."""
    return float(SECOND) if plan.clock is Clock.TIMESTAMPS else 1.0


def flow_of(plan: Plan, inputs: Sequence[Flow], statistics: Statistics) -> Flow:
    """The flow out of an operator, given those of its inputs."""
    match plan:
        case StreamScan():
            return _stream(plan, statistics)
        case RelationScan(source):
            known = statistics.of(source.name)
            rows = known.rows or ASSUMED_ROWS
            distinct = [known.distinct.get(f.name, ASSUMED_DISTINCT) for f in source.schema]
            if len(source.key) == 1:
                distinct[source.key[0]] = rows
            return Flow(0.0, rows, capped(distinct, rows))
        case Windowed(window=window):
            return _window(inputs[0], window, HORIZON * unit(plan))
        case Select(predicate=predicate):
            return inputs[0].thinned(selectivity(predicate, inputs[0].distinct))
        case Project(items=items):
            (below,) = inputs
            computed = [values(item.expression, below.distinct) for item in items]
            return replace(below, distinct=capped(computed, below.size))
        case Union():
            left, right = inputs
            most = [max(pair) for pair in zip(left.distinct, right.distinct, strict=True)]
            return Flow(left.rate + right.rate, left.size + right.size, tuple(most))
        case Join(condition=condition, kind=kind):
            return _join(inputs, condition, kind)
        case MultiJoin(condition=condition):
            return _multi_join(inputs, condition)
        case NrrJoin(condition=condition, kind=kind):
            joined = _join([inputs[0], replace(inputs[1], rate=0.0)], condition, kind)
            return replace(joined, size=joined.rate * inputs[0].life)
        case SemiJoin(anti=anti, equalities=pairs):
            return _semi_join(inputs, pairs, anti)
        case Distinct():
            return _distinct(inputs[0])
        case GroupBy(keys=keys):
            (below,) = inputs
            known_keys = [values(key.expression, below.distinct) for key in keys]
            groups = max(1.0, min(below.size, prod(known_keys)))
            others = [groups] * (len(plan.schema) - len(keys))
            return Flow(2 * below.rate, groups, capped([*known_keys, *others], groups))
        case Negation(on=on):
            return _negation(inputs, on)
        case Intersect():
            every = [(i, i) for i in range(len(plan.schema))]
            left, kept = inputs[0], _negation(inputs, every)
            met = max(left.size - kept.size, 0.0)
            return replace(left.thinned(met / left.size if left.size else 0.0), premature=kept.premature)
        case TopK(limit=limit):
            (below,) = inputs
            return below.thinned(min(1.0, 2 * limit / max(below.size, 1.0)))
        case RStream():
            return replace(inputs[0], rate=inputs[0].rate * max(1.0, inputs[0].size))
        case IStream() | DStream():
            return replace(inputs[0], size=inputs[0].rate * HORIZON * unit(plan))
    raise PlanError(f"the optimiser has no estimate for {plan.label}")


def _stream(plan: StreamScan, statistics: Statistics) -> Flow:
    known, ticks = statistics.of(plan.source.name), unit(plan)
    rate = ASSUMED_RATE / ticks if known.rate is None else known.rate
    size = rate * HORIZON * ticks
    distinct = [known.distinct.get(f.name, ASSUMED_DISTINCT) for f in plan.schema]
    if plan.source.timestamp is not None:
        distinct[plan.source.timestamp] = size
    return Flow(rate, size, capped(distinct, size))


def _window(stream: Flow, window: Window, horizon: float) -> Flow:
    match window:
        case Range(width=width):
            size = stream.rate * width
        case Now():
            size = stream.rate
        case Rows(count=count):
            size = min(count, stream.rate * horizon)
        case PartitionedRows(keys=keys, count=count):
            size = min(count * stream.values(keys), stream.rate * horizon)
        case ValueRange():
            size = stream.rate * horizon * RANGE
        case _:
            size = stream.rate * horizon
    return replace(stream, size=size, distinct=capped(stream.distinct, size))


def met(condition: Expression, distinct: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """The share of all combinations that a join's condition lets through, and the values that its columns then have.

    Of two columns that must be equal the one has the other's values among its own: 1 / max(v1, v2), then min(v1, v2).
    """
    share, left = 1.0, list(distinct)
    for part in conjuncts(condition):
        share *= selectivity(part, left)
        match part:
            case Call("=", (Column(i), Column(j))):
                left[i] = left[j] = min(left[i], left[j])
    return share, tuple(left)


def _join(inputs: Sequence[Flow], condition: Expression, kind: JoinKind) -> Flow:
    left, right = inputs
    share, distinct = met(condition, left.distinct + right.distinct)
    rate = (left.rate * right.size + right.rate * left.size) * share
    size = left.size * right.size * share
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        rate, size = max(rate, left.rate), max(size, left.size)
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        rate, size = max(rate, right.rate), max(size, right.size)
    return Flow(rate, size, capped(distinct, size))


def _multi_join(inputs: Sequence[Flow], condition: Expression) -> Flow:
    """A result for each new tuple of an input and a matching one of every other."""
    share, distinct = met(condition, tuple(d for side in inputs for d in side.distinct))
    size = prod(side.size for side in inputs) * share
    rate = sum(size * side.rate / side.size for side in inputs if side.size)
    return Flow(rate, size, capped(distinct, size))


def _semi_join(inputs: Sequence[Flow], pairs: tuple[tuple[Expression, Expression], ...], anti: bool) -> Flow:
    """Left tuples whose key is there on the right, or is not; a key that comes or goes concerns all that have it."""
    left, right = inputs
    both = left.distinct + right.distinct
    mine, theirs = (max(1.0, prod(values(pair[side], both) for pair in pairs)) for side in (0, 1))
    common = min(mine, theirs)
    absent = exp(-right.size / theirs)
    kept = 1 - common / mine * (1 - absent) if anti else common / mine * (1 - absent)
    # How often a key goes, or, for the results that it has, is renewed: delta* shows it with its end (see `_distinct`).
    turns = right.rate * absent if anti or not right.life else theirs * (1 - absent) / right.life
    turning = turns * common / theirs * left.size / mine
    flow = left.thinned(max(kept, 1e-9))
    rate = flow.rate + turning
    return replace(flow, rate=rate, premature=turning / rate if anti and rate else 0.0)


def _distinct(below: Flow) -> Flow:
    size = below.values(range(len(below.distinct)))
    return Flow(size / below.life if below.life else below.rate, size, capped(below.distinct, size))


def _negation(inputs: Sequence[Flow], on: Sequence[tuple[int, int]]) -> Flow:
    """max(0, v1 - v2) left results per value; a right arrival deletes one before its time if v1 > v2."""
    left, right = inputs
    mine, theirs = left.values([i for i, _ in on]), right.values([j for _, j in on])
    common = min(mine, theirs)
    surplus = Surplus(left.size / mine, right.size / theirs)
    size = left.size * (1 - common / mine) + common * surplus.expected
    shown = 1 - common / mine * (1 - surplus.likely)  # of the left arrivals
    deleted = right.rate * common / theirs * surplus.likely
    rate = left.rate * shown + deleted  # what a right arrival deletes comes back when that one ends
    flow = Flow(rate, size, capped(left.distinct, size))
    return replace(flow, premature=min(1.0, deleted / rate) if rate else 0.0)
