"""All expressions of a node at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import (
    GroupBy,
    Join,
    Named,
    NamedAggregate,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    SortKey,
    TopK,
)

Change = Callable[[Expression], Expression]


def with_expressions(plan: Plan, change: Change, child: Plan | None = None) -> Plan:
    """The node with each of its expressions changed into another of the same type; over another input, if given."""
    match plan:
        case Select(below, predicate):
            return Select(child or below, change(predicate))
        case Join() | SemiJoin() | NrrJoin():
            return replace(plan, condition=change(plan.condition))
        case Project(below, items):
            return Project(child or below, _named(items, change))
        case GroupBy(below, keys, aggregates):
            return GroupBy(child or below, _named(keys, change), tuple(_aggregate(a, change) for a in aggregates))
        case TopK(below, sort_keys, limit):
            return TopK(child or below, tuple(_sort_key(key, change) for key in sort_keys), limit)
    return plan


def with_condition(plan: Plan, change: Change) -> Plan:
    """The node with its condition changed, if it has one that keeps rows only where it is true."""
    return with_expressions(plan, change) if isinstance(plan, Select | Join | SemiJoin | NrrJoin) else plan


def expressions_of(plan: Project | GroupBy) -> list[Expression]:
    """What a projection or a group-by computes from its input."""
    if isinstance(plan, Project):
        return [item.expression for item in plan.items]
    arguments = [a.aggregate.argument for a in plan.aggregates if a.aggregate.argument is not None]
    return [*(key.expression for key in plan.keys), *arguments]


def _named(items: tuple[Named, ...], change: Change) -> tuple[Named, ...]:
    return tuple(Named(change(item.expression), item.name) for item in items)


def _aggregate(item: NamedAggregate, change: Change) -> NamedAggregate:
    argument = item.aggregate.argument
    return item if argument is None else replace(item, aggregate=replace(item.aggregate, argument=change(argument)))


def _sort_key(key: SortKey, change: Change) -> SortKey:
    return replace(key, expression=change(key.expression))
