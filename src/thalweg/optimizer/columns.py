"""Columns are positions: what an expression or a plan becomes when they move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from thalweg.algebra.expressions import Column, Expression, Literal, and_, column, columns_of, conjuncts, map_columns
from thalweg.algebra.plan import Named, Plan, Project, Select
from thalweg.core.schema import Schema


def through(expression: Expression, items: Sequence[Named]) -> Expression:
    """An expression over computed columns, as one over what they are computed from."""
    return map_columns(expression, lambda c: items[c.index].expression)


def moved(expression: Expression, places: Mapping[int, int]) -> Expression:
    """The expression with every column at its new place."""
    return map_columns(expression, lambda c: Column(places[c.index], c.type, c.name))


def own(schema: Schema) -> tuple[Named, ...]:
    """All columns under their names."""
    return tuple(Named(column(schema, i), field.name) for i, field in enumerate(schema))


def nulls(schema: Schema) -> tuple[Named, ...]:
    """As many NULLs of the same types, under the columns' names."""
    return tuple(Named(Literal(None, field.type), field.name) for field in schema)


def selected(plan: Plan, parts: Sequence[Expression]) -> Plan:
    """The rows for which all parts are true; the plan itself if there are none."""
    return Select(plan, and_(parts)) if parts else plan


def kept(plan: Plan, wanted: Iterable[int]) -> Project:
    """Some of the columns, in order."""
    return Project(plan, tuple(Named(column(plan.schema, i), plan.schema[i].name) for i in sorted(wanted)))


def split(condition: Expression, goes: Callable[[frozenset[int]], bool]) -> tuple[list[Expression], list[Expression]]:
    """The parts of a conjunction whose columns let them go, and those that stay; a part without columns stays."""
    parts = [(part, columns_of(part)) for part in conjuncts(condition)]
    going = [part for part, read in parts if read and goes(read)]
    return going, [part for part, read in parts if not (read and goes(read))]


def columns_read(expressions: Iterable[Expression]) -> frozenset[int]:
    """All positions that some expressions read."""
    return frozenset().union(*map(columns_of, expressions))


def plain(items: Sequence[Named]) -> dict[int, int]:
    """By column of the input, the first item that shows it as it is."""
    places: dict[int, int] = {}
    for place, item in enumerate(items):
        if isinstance(item.expression, Column):
            places.setdefault(item.expression.index, place)
    return places
