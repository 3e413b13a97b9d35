"""The traffic out of each operator, from that of its inputs (GolabOzsu2005 §5.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, prod
from typing import assert_never

from thalweg.algebra.expressions import Expression
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
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.core.time import SECOND, Clock
from thalweg.optimizer.estimates.selectivity import RANGE_SHARE, distinct_values, join_selectivity, selectivity
from thalweg.optimizer.estimates.traffic import Surplus, Traffic, capped
from thalweg.optimizer.statistics import ASSUMED_DISTINCT, ASSUMED_RATE, ASSUMED_ROWS, Statistics

ASSUMED_AGE = 3600.0  # seconds, or ticks, since a stream began: it limits the size of what never expires


def ticks_per_unit(plan: Plan) -> float:
    """The ticks of a second; 1 if the plan's clock counts ticks without a length."""
    return float(SECOND) if plan.clock is Clock.TIMESTAMPS else 1.0


def traffic_of(plan: Plan, inputs: Sequence[Traffic], statistics: Statistics) -> Traffic:
    """The traffic out of an operator, given that of its inputs."""
    match plan:
        case StreamScan():
            return _stream(plan, statistics)
        case RelationScan(source):
            known = statistics.of(source.name)
            rows = known.rows or ASSUMED_ROWS
            distinct = [known.distinct.get(f.name, ASSUMED_DISTINCT) for f in source.schema]
            if len(source.key) == 1:
                distinct[source.key[0]] = rows
            return Traffic(0.0, rows, capped(distinct, rows))
        case Windowed(window=window):
            return _window(inputs[0], window, ASSUMED_AGE * ticks_per_unit(plan))
        case Select(predicate=predicate):
            return inputs[0].scaled(selectivity(predicate, inputs[0].distinct))
        case Project(items=items):
            (below,) = inputs
            computed = [distinct_values(item.expression, below.distinct) for item in items]
            return replace(below, distinct=capped(computed, below.size))
        case Union():
            left, right = inputs
            most = [max(pair) for pair in zip(left.distinct, right.distinct, strict=True)]
            return Traffic(left.rate + right.rate, left.size + right.size, tuple(most))
        case Join(condition=condition, kind=kind):
            return _join(inputs, condition, kind)
        case MultiJoin(condition=condition):
            return _multi_join(inputs, condition)
        case NrrJoin(condition=condition, kind=kind):
            joined = _join([inputs[0], replace(inputs[1], rate=0.0)], condition, kind)
            return replace(joined, size=joined.rate * inputs[0].lifetime)
        case SemiJoin(anti=anti, equalities=pairs):
            return _semi_join(inputs, pairs, anti)
        case Distinct():
            return _distinct(inputs[0])
        case GroupBy(keys=keys):
            (below,) = inputs
            known_keys = [distinct_values(key.expression, below.distinct) for key in keys]
            groups = max(1.0, min(below.size, prod(known_keys)))
            others = [groups] * (len(plan.schema) - len(keys))
            return Traffic(2 * below.rate, groups, capped([*known_keys, *others], groups))
        case Negation(on=on):
            return _negation(inputs, on)
        case Intersect():
            every = [(i, i) for i in range(len(plan.schema))]
            left, without_partner = inputs[0], _negation(inputs, every)
            size = max(left.size - without_partner.size, 0.0)
            return replace(left.scaled(size / left.size if left.size else 0.0), premature=without_partner.premature)
        case TopK(limit=limit):
            (below,) = inputs
            return below.scaled(min(1.0, 2 * limit / max(below.size, 1.0)))
        case RStream():
            return replace(inputs[0], rate=inputs[0].rate * max(1.0, inputs[0].size))
        case IStream() | DStream():
            return replace(inputs[0], size=inputs[0].rate * ASSUMED_AGE * ticks_per_unit(plan))
        case _:
            assert_never(plan)


def _stream(plan: StreamScan, statistics: Statistics) -> Traffic:
    known, ticks = statistics.of(plan.source.name), ticks_per_unit(plan)
    rate = ASSUMED_RATE / ticks if known.rate is None else known.rate
    size = rate * ASSUMED_AGE * ticks
    distinct = [known.distinct.get(f.name, ASSUMED_DISTINCT) for f in plan.schema]
    if plan.source.timestamp is not None:
        distinct[plan.source.timestamp] = size
    return Traffic(rate, size, capped(distinct, size))


def _window(stream: Traffic, window: Window, age: float) -> Traffic:
    match window:
        case Range(width=width):
            size = stream.rate * width
        case Now():
            size = stream.rate
        case Rows(count=count):
            size = min(count, stream.rate * age)
        case PartitionedRows(keys=keys, count=count):
            size = min(count * stream.combinations(keys), stream.rate * age)
        case ValueRange():
            size = stream.rate * age * RANGE_SHARE
        case Landmark() | Unbounded():
            size = stream.rate * age
        case _:
            assert_never(window)
    return replace(stream, size=size, distinct=capped(stream.distinct, size))


def _join(inputs: Sequence[Traffic], condition: Expression, kind: JoinKind) -> Traffic:
    left, right = inputs
    share, distinct = join_selectivity(condition, left.distinct + right.distinct)
    rate = (left.rate * right.size + right.rate * left.size) * share
    size = left.size * right.size * share
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        rate, size = max(rate, left.rate), max(size, left.size)
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        rate, size = max(rate, right.rate), max(size, right.size)
    return Traffic(rate, size, capped(distinct, size))


def _multi_join(inputs: Sequence[Traffic], condition: Expression) -> Traffic:
    """A result consists of a new tuple of one input and a matching tuple of every other input."""
    share, distinct = join_selectivity(condition, tuple(d for side in inputs for d in side.distinct))
    size = prod(side.size for side in inputs) * share
    rate = sum(size * side.rate / side.size for side in inputs if side.size)
    return Traffic(rate, size, capped(distinct, size))


def _semi_join(inputs: Sequence[Traffic], pairs: tuple[tuple[Expression, Expression], ...], anti: bool) -> Traffic:
    """Left tuples whose key is on the right, or is not; a key that comes or goes affects all of its left tuples."""
    left, right = inputs
    both = left.distinct + right.distinct
    left_keys, right_keys = (max(1.0, prod(distinct_values(pair[side], both) for pair in pairs)) for side in (0, 1))
    common = min(left_keys, right_keys)
    absent = exp(-right.size / right_keys)
    kept = 1 - common / left_keys * (1 - absent) if anti else common / left_keys * (1 - absent)
    # How often a right key disappears, or how often delta* renews it before it expires (see `_distinct`).
    key_changes = right.rate * absent if anti or not right.lifetime else right_keys * (1 - absent) / right.lifetime
    affected = key_changes * common / right_keys * left.size / left_keys
    traffic = left.scaled(max(kept, 1e-9))
    rate = traffic.rate + affected
    return replace(traffic, rate=rate, premature=affected / rate if anti and rate else 0.0)


def _distinct(below: Traffic) -> Traffic:
    size = below.combinations(range(len(below.distinct)))
    return Traffic(size / below.lifetime if below.lifetime else below.rate, size, capped(below.distinct, size))


def _negation(inputs: Sequence[Traffic], on: Sequence[tuple[int, int]]) -> Traffic:
    """max(0, v1 - v2) left results per value; a right arrival deletes one of them early if v1 > v2."""
    left, right = inputs
    left_values, right_values = left.combinations([i for i, _ in on]), right.combinations([j for _, j in on])
    common = min(left_values, right_values)
    surplus = Surplus(left.size / left_values, right.size / right_values)
    size = left.size * (1 - common / left_values) + common * surplus.expected
    emitted = 1 - common / left_values * (1 - surplus.likely)  # share of left arrivals that are results at once
    deleted = right.rate * common / right_values * surplus.likely
    rate = left.rate * emitted + deleted  # a deleted result comes back when the right tuple expires
    traffic = Traffic(rate, size, capped(left.distinct, size))
    return replace(traffic, premature=min(1.0, deleted / rate) if rate else 0.0)
