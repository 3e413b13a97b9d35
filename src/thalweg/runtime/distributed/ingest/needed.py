"""The columns and rows of its sources that a plan needs: the others are not sent to the shards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import assert_never

from thalweg.algebra.expressions import Expression, call, columns_of
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
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
    keeps_arrival_order,
)
from thalweg.algebra.windows import LogicalWindow, PartitionedRows, ValueRange


def needed_columns(plan: Plan) -> dict[str, frozenset[int]]:
    """By source, the columns that the answer depends on. Where rows are compared as a whole, that is all of them."""
    found: dict[str, frozenset[int]] = {}
    _need(plan, frozenset(range(len(plan.schema))), found)
    return found


def _need(plan: Plan, wanted: frozenset[int], found: dict[str, frozenset[int]]) -> None:
    match plan:
        case StreamScan(source) | RelationScan(source):
            found[source.name] = found.get(source.name, frozenset()) | wanted
        case Windowed(child, window) if not isinstance(window, LogicalWindow) and not keeps_arrival_order(child):
            _need(child, frozenset(range(len(child.schema))), found)  # ties are broken by whole rows
        case Windowed(child, PartitionedRows(keys)):
            _need(child, wanted | frozenset(keys), found)
        case Windowed(child, ValueRange(column=column)):
            _need(child, wanted | {column}, found)
        case Windowed(child):
            _need(child, wanted, found)
        case Select(child, predicate):
            _need(child, wanted | columns_of(predicate), found)
        case Project(child, items):
            _need(child, _read(columns_of(items[i].expression) for i in wanted), found)
        case GroupBy(child, keys, aggregates):
            arguments = [a.aggregate.argument for a in aggregates if a.aggregate.argument is not None]
            _need(child, _read(map(columns_of, [*(key.expression for key in keys), *arguments])), found)
        case Join(left, right, condition) | NrrJoin(left, right, condition):
            _need_sides(left, right, wanted | columns_of(condition), found)
        case SemiJoin(left, right, condition):
            _need_sides(left, right, wanted | columns_of(condition), found)
        case MultiJoin(inputs, condition):
            wanted |= columns_of(condition)
            for child, offset in zip(inputs, plan.offsets, strict=False):
                _need(child, frozenset(i - offset for i in wanted if 0 <= i - offset < len(child.schema)), found)
        case Union(left, right):
            _need(left, wanted, found)
            _need(right, wanted, found)
        case TopK():  # ties are broken by whole rows
            _need(plan.child, frozenset(range(len(plan.child.schema))), found)
        case Distinct() | Intersect() | Negation() | IStream() | DStream() | RStream():  # whole rows are compared
            for child in plan.children:
                _need(child, frozenset(range(len(child.schema))), found)
        case _:
            assert_never(plan)


def _need_sides(left: Plan, right: Plan, wanted: frozenset[int], found: dict[str, frozenset[int]]) -> None:
    width = len(left.schema)
    _need(left, frozenset(i for i in wanted if i < width), found)
    _need(right, frozenset(i - width for i in wanted if i >= width), found)


def _read(columns: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*columns)


def selections(plan: Plan) -> dict[str, Expression]:
    """By stream, a condition that every row must satisfy to matter, in all places that read the stream.

    Of other rows only the time matters. A selection commutes with a window of time, so one above such a window counts.
    """
    found: defaultdict[str, list[Expression | None]] = defaultdict(list)
    _collect(plan, None, found)
    return {
        name: first for name, (first, *rest) in found.items() if first is not None and all(c == first for c in rest)
    }


def _collect(plan: Plan, above: Expression | None, found: defaultdict[str, list[Expression | None]]) -> None:
    match plan:
        case StreamScan(source):
            found[source.name].append(above)
        case Select(child, predicate):
            _collect(child, predicate if above is None else call("and", predicate, above), found)
        case Windowed(child, LogicalWindow()):
            _collect(child, above, found)
        case (
            RelationScan()
            | Windowed()
            | Project()
            | Distinct()
            | GroupBy()
            | TopK()
            | Union()
            | Intersect()
            | Negation()
            | Join()
            | SemiJoin()
            | NrrJoin()
            | MultiJoin()
            | IStream()
            | DStream()
            | RStream()
        ):  # selections below these stay below
            for child in plan.children:
                _collect(child, None, found)
        case _:
            assert_never(plan)
