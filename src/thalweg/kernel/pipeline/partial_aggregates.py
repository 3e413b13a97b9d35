"""Aggregates without keys in two steps, so that not one process need see every tuple:

    f(S) = g({ f(P) : P a part of S that is not empty })    COUNT by SUM, MIN by MIN, MAX by MAX

SUM is not among them: a part's sum may leave BIGINT where the whole one does not, and DOUBLEs are rounded once only.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import Aggregate, Expression, call, column, literal
from thalweg.algebra.plan import GroupBy, Named, NamedAggregate, Windowed
from thalweg.algebra.windows import Landmark, Range, Unbounded, Window
from thalweg.core.schema import Schema

# Ticks within which many tuples are likely; of timestamps a millisecond. Where there are few, there is little to do.
FAR = 1000

_EXTREMES = ("min", "max")


def goes_in_parts(plan: GroupBy, least: int | None) -> bool:
    """Whether the rows of parts change so much more seldom than tuples come that they are worth sending.

    They do where windows move `least` ticks at a time or more. The greatest and the least tuple also change seldom
    where windows move with every tick but reach that far. None: never.
    """
    if least is None or plan.keys or not plan.aggregates or not all(map(_is_put_together, plan.aggregates)):
        return False
    windows = [node.window for node in plan.walk() if isinstance(node, Windowed)]
    stays = all(named.aggregate.function in _EXTREMES for named in plan.aggregates)
    return bool(windows) and all(_slides(window, least) or (stays and _reaches(window, least)) for window in windows)


def _is_put_together(named: NamedAggregate) -> bool:
    aggregate = named.aggregate
    if aggregate.user is not None:
        return False
    return aggregate.function in _EXTREMES or (aggregate.function == "count" and not aggregate.distinct)


def _slides(window: Window, least: int) -> bool:
    return isinstance(window, Range) and window.slide >= least


def _reaches(window: Window, least: int) -> bool:
    """By time, that is: a window by count is one process's work already."""
    return isinstance(window, Landmark | Unbounded) or (isinstance(window, Range) and window.width >= least)


def put_together(aggregates: Sequence[NamedAggregate], parts: Schema) -> list[Aggregate]:
    """The aggregates of the parts' rows."""
    return [
        Aggregate.of("sum" if named.aggregate.function == "count" else named.aggregate.function, column(parts, i))
        for i, named in enumerate(aggregates)
    ]


def shown(aggregates: Sequence[NamedAggregate], whole: Schema) -> list[Named]:
    """What they show: without any part nothing is counted, which is 0."""
    return [Named(_shown(named.aggregate, column(whole, i)), named.name) for i, named in enumerate(aggregates)]


def _shown(aggregate: Aggregate, value: Expression) -> Expression:
    return call("coalesce", value, literal(0)) if aggregate.function == "count" else value
