"""Drawn select-project-join plans over the small catalogue, and arrivals for its streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa

from strategies.catalog import VALUES, S, T, U
from strategies.conditions import a_join_condition, a_multi_join_condition, a_predicate, any_scalar
from strategies.dice import Dice
from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import Expression, call
from thalweg.algebra.plan import Join, MultiJoin, Named, Plan, Project, Select, StreamScan, Windowed
from thalweg.algebra.windows import Now, Range, Rows, Unbounded, Window
from thalweg.core.batch import Batch
from thalweg.core.lanes import from_lane, to_lane
from thalweg.core.rows import Bag, Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant

STREAMS = {stream.name: stream for stream in (S, T, U)}
SCHEMAS = {name: stream.schema for name, stream in STREAMS.items()}


class Arrived(NamedTuple):
    """A tuple of a stream."""

    ts: Instant
    stream: str
    row: Row


def a_plan(dice: Dice) -> Plan:
    """A selection, or a join of two or three uses, which may be of one stream; projected or not."""
    uses = [_a_use(dice, single=False) for _ in range(dice.pick([2, 2, 2, 3]))] if dice.chance(2) else []
    match uses:
        case []:
            plan = _a_use(dice, single=True)
        case [left, right]:
            plan = Join(left, right, a_join_condition(dice, left.schema, right.schema))
        case _:
            plan = MultiJoin(tuple(uses), a_multi_join_condition(dice, [use.schema for use in uses]))
    if dice.chance(2):
        plan = Select(plan, a_condition(dice, plan.schema))
    if dice.chance(2):
        schema = plan.schema
        items = dice.several(1, 3, lambda: any_scalar(dice, schema))
        plan = Project(plan, tuple(Named(item, f"c{i}") for i, item in enumerate(items)))
    return plan


def a_condition(dice: Dice, schema: Schema) -> Expression:
    """Predicates nested in AND, OR and NOT."""
    match dice.number(0, 6):
        case 5:
            return call("or", a_condition(dice, schema), a_condition(dice, schema))
        case 4:
            return call("and", a_condition(dice, schema), a_condition(dice, schema))
        case 6:
            return call("not", a_condition(dice, schema))
        case _:
            return a_predicate(dice, schema)


def _a_use(dice: Dice, single: bool) -> Plan:
    """A stream through a window, selected below or above it; or, if it is alone, without a window."""
    stream = dice.pick([S, T, U, S])
    plan: Plan = StreamScan(stream)
    windows: Sequence[Window] = [Range(dice.number(1, 8)), Rows(dice.number(1, 4)), Now(), Unbounded()]
    window = dice.pick([*windows[:2], *windows[:3], *windows])
    if not isinstance(window, Rows) and dice.chance(4):
        plan = Select(plan, a_predicate(dice, plan.schema))
    if not single or dice.chance(2):
        plan = Windowed(plan, window)
    return Select(plan, a_predicate(dice, plan.schema)) if dice.chance(3) else plan


def some_arrivals(dice: Dice, most: int) -> list[Arrived]:
    """Tuples in order of time, with ties, bursts and silences."""
    t, arrived = dice.number(-2, 3), []
    for _ in range(dice.number(0, most)):
        t += dice.pick([1, 0, 1, 0, 2, 0, 3, 9])
        stream = dice.pick([S, T, U])
        arrived.append(Arrived(t, stream.name, _a_row(dice, stream)))
    return arrived


def _a_row(dice: Dice, stream: Stream) -> Row:
    return tuple(dice.pick(VALUES[type_]) for type_ in stream.schema.types)


def feeds(arrived: Iterable[Arrived], pool: StringPool) -> dict[str, Batch]:
    """Arrivals as batches by stream."""
    by_stream: dict[str, list[Arrived]] = {}
    for one in arrived:
        by_stream.setdefault(one.stream, []).append(one)
    return {name: _batch(SCHEMAS[name], some, pool) for name, some in by_stream.items()}


def _batch(schema: Schema, arrived: Sequence[Arrived], pool: StringPool) -> Batch:
    columns = [
        to_lane(pa.array([one.row[i] for one in arrived], field.type.arrow), field.type, pool)
        for i, field in enumerate(schema)
    ]
    ts = pa.array([one.ts for one in arrived], pa.int64()).to_numpy()
    return Batch.of_arrivals(columns, ts)


def bag_at(batches: Iterable[Batch], schema: Schema, pool: StringPool, t: Instant) -> Bag:
    """What signed intervals add up to at t."""
    bag: Bag = Counter()
    for batch in batches:
        alive = batch.take((batch.start <= t) & (t < batch.end))
        lanes = [
            from_lane(lane, type_, pool).cast(_plain(type_.arrow)).to_pylist()
            for lane, type_ in zip(alive.columns, schema.types, strict=True)
        ]
        for sign, row in zip(alive.sign.tolist(), zip(*lanes, strict=True) if lanes else (), strict=False):
            bag[row] += sign
    assert all(count >= 0 for count in bag.values()), "a row was taken back that had not been given"
    return Counter({row: count for row, count in bag.items() if count})


def _plain(type_: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_temporal(type_) else type_
