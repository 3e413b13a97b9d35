"""Partial aggregation: aggregates without keys in two steps, so that no process must see all tuples.

    f(S) = g({ f(P) : P a non-empty part of S })    with g = SUM for COUNT, MIN for MIN, MAX for MAX

SUM is excluded: the sum of a part may overflow BIGINT although the whole sum does not, and a DOUBLE sum is rounded once
only.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import Aggregate, Expression, call, column, literal
from thalweg.algebra.plan import GroupBy, Named, NamedAggregate, Windowed
from thalweg.algebra.windows import Landmark, Range, Unbounded, Window
from thalweg.core.schema import Schema

# Windows that move or reach this far are likely to hold many tuples; with microseconds it is a millisecond.
PARTIAL_AGGREGATES_FROM_TICKS = 1000

_EXTREMES = ("min", "max")


def uses_partial_aggregates(plan: GroupBy, least: int | None) -> bool:
    """Whether partial aggregates change so much more rarely than tuples arrive that they are worth sending.

    They do if windows slide by `least` ticks or more. MIN and MAX also change rarely if windows slide with every tick
    but are `least` ticks wide or more. With None, partial aggregates are never used.
    """
    if least is None or plan.keys or not plan.aggregates or not all(map(_can_be_combined, plan.aggregates)):
        return False
    windows = [node.window for node in plan.walk() if isinstance(node, Windowed)]
    only_extremes = all(named.aggregate.function in _EXTREMES for named in plan.aggregates)
    return bool(windows) and all(
        _slides(window, least) or (only_extremes and _is_wide(window, least)) for window in windows
    )


def _can_be_combined(named: NamedAggregate) -> bool:
    aggregate = named.aggregate
    if aggregate.user is not None:
        return False
    return aggregate.function in _EXTREMES or (aggregate.function == "count" and not aggregate.distinct)


def _slides(window: Window, least: int) -> bool:
    return isinstance(window, Range) and window.slide >= least


def _is_wide(window: Window, least: int) -> bool:
    """Only windows by time: one process computes a window by count anyway."""
    return isinstance(window, Landmark | Unbounded) or (isinstance(window, Range) and window.width >= least)


def combining_aggregates(aggregates: Sequence[NamedAggregate], parts: Schema) -> list[Aggregate]:
    """The aggregates that combine the rows of partial aggregates."""
    return [
        Aggregate.of("sum" if named.aggregate.function == "count" else named.aggregate.function, column(parts, i))
        for i, named in enumerate(aggregates)
    ]


def combined_columns(aggregates: Sequence[NamedAggregate], whole: Schema) -> list[Named]:
    """The columns of the answer: COUNT is 0, not NULL, if there is no partial aggregate."""
    return [Named(_or_zero(named.aggregate, column(whole, i)), named.name) for i, named in enumerate(aggregates)]


def _or_zero(aggregate: Aggregate, value: Expression) -> Expression:
    return call("coalesce", value, literal(0)) if aggregate.function == "count" else value
