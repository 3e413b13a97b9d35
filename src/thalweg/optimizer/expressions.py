"""Expressions of plan nodes: read them, change them, and follow their columns to other positions.

A column is a position in the input's rows. When a rule moves an operator, the columns of its expressions move too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from thalweg.algebra.expressions import Column, Expression, Literal, and_, column, columns_of, conjuncts, map_columns
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Named,
    NamedAggregate,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    SortKey,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.core.schema import Schema

Change = Callable[[Expression], Expression]


def substituted(expression: Expression, items: Sequence[Named]) -> Expression:
    """An expression over the columns that a projection computes, rewritten over the projection's input."""
    return map_columns(expression, lambda c: items[c.index].expression)


def moved(expression: Expression, places: Mapping[int, int]) -> Expression:
    """The expression with every column at its new position: `places` maps old positions to new ones."""
    return map_columns(expression, lambda c: Column(places[c.index], c.type, c.name))


def all_columns(schema: Schema) -> tuple[Named, ...]:
    """The items of a projection that keeps all columns under their names."""
    return tuple(Named(column(schema, i), field.name) for i, field in enumerate(schema))


def all_nulls(schema: Schema) -> tuple[Named, ...]:
    """The items of a projection that replaces every column by a NULL of its type, under the column's name."""
    return tuple(Named(Literal(None, field.type), field.name) for field in schema)


def selected(plan: Plan, parts: Sequence[Expression]) -> Plan:
    """The rows for which all parts are true; the plan itself if there are no parts."""
    return Select(plan, and_(parts)) if parts else plan


def with_columns(plan: Plan, wanted: Iterable[int]) -> Project:
    """A projection to some of the plan's columns, in their order."""
    return Project(plan, tuple(Named(column(plan.schema, i), plan.schema[i].name) for i in sorted(wanted)))


def split(
    condition: Expression, may_move: Callable[[frozenset[int]], bool]
) -> tuple[list[Expression], list[Expression]]:
    """The parts of a conjunction that may move, and those that stay.

    `may_move` decides by the columns that a part reads. A part that reads no column always stays.
    """
    parts = [(part, columns_of(part)) for part in conjuncts(condition)]
    moving = [part for part, read in parts if read and may_move(read)]
    return moving, [part for part, read in parts if not (read and may_move(read))]


def columns_read(expressions: Iterable[Expression]) -> frozenset[int]:
    """The positions of all columns that some expressions read."""
    return frozenset().union(*map(columns_of, expressions))


def copied_columns(items: Sequence[Named]) -> dict[int, int]:
    """For each input column that a projection copies unchanged, the position of its first copy in the output."""
    places: dict[int, int] = {}
    for place, item in enumerate(items):
        if isinstance(item.expression, Column):
            places.setdefault(item.expression.index, place)
    return places


def with_expressions(plan: Plan, change: Change, child: Plan | None = None) -> Plan:
    """The node with `change` applied to each of its expressions, and over another input if `child` is given.

    `change` must keep the type. Nodes without expressions are returned as they are.
    """
    match plan:
        case Select(below, predicate):
            return Select(child or below, change(predicate))
        case Join() | SemiJoin() | NrrJoin():
            return replace(plan, condition=change(plan.condition))
        case Project(below, items):
            return Project(child or below, _changed(items, change))
        case GroupBy(below, keys, aggregates):
            return GroupBy(child or below, _changed(keys, change), tuple(_aggregate(a, change) for a in aggregates))
        case TopK(below, sort_keys, limit):
            return TopK(child or below, tuple(_sort_key(key, change) for key in sort_keys), limit)
        case MultiJoin():
            return plan  # its condition was rewritten when it was that of several joins
        case StreamScan() | RelationScan() | Windowed() | Distinct() | Union() | Intersect() | Negation():
            return plan
        case IStream() | DStream() | RStream():
            return plan
        case _:
            assert_never(plan)


def with_condition(plan: Plan, change: Change) -> Plan:
    """The node with its condition changed, if it is a selection or a join; else the node as it is."""
    return with_expressions(plan, change) if isinstance(plan, Select | Join | SemiJoin | NrrJoin) else plan


def expressions_of(plan: Project | GroupBy) -> list[Expression]:
    """The expressions that a projection or a group-by computes from its input."""
    if isinstance(plan, Project):
        return [item.expression for item in plan.items]
    arguments = [a.aggregate.argument for a in plan.aggregates if a.aggregate.argument is not None]
    return [*(key.expression for key in plan.keys), *arguments]


def _changed(items: tuple[Named, ...], change: Change) -> tuple[Named, ...]:
    return tuple(Named(change(item.expression), item.name) for item in items)


def _aggregate(item: NamedAggregate, change: Change) -> NamedAggregate:
    argument = item.aggregate.argument
    return item if argument is None else replace(item, aggregate=replace(item.aggregate, argument=change(argument)))


def _sort_key(key: SortKey, change: Change) -> SortKey:
    return replace(key, expression=change(key.expression))
