"""Keys of a plan: columns whose values differ between any two of its rows, at every instant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    MultiJoin,
    Named,
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
from thalweg.algebra.windows import PartitionedRows, Rows
from thalweg.optimizer.expressions import copied_columns

Key = frozenset[int]

_MOST_KEYS = 8  # candidate keys that are followed, the shortest; a plan with more loses the longer ones


def keys(plan: Plan) -> set[Key]:
    """The keys of a plan; NULL counts as a value. An empty key means that the plan has at most one row."""
    match plan:
        case RelationScan(source):
            return {frozenset(source.key)} if source.key else set()
        case Windowed(window=Rows(count=1)):
            return {frozenset()}
        case Windowed(window=PartitionedRows(columns, count=1)):
            return {frozenset(columns)}
        case Select(child):
            return keys(child)
        case TopK(child, limit=limit):
            return {frozenset()} if limit <= 1 else keys(child)
        case Negation(left) | Intersect(left) | SemiJoin(left):
            return keys(left)
        case Distinct(child):
            return _shortest([frozenset(range(len(plan.schema))), *keys(child)])
        case GroupBy(keys=columns):
            return {frozenset(range(len(columns)))}
        case Project(child, items):
            return _projected(keys(child), items)
        case Join(kind=kind) if kind is not JoinKind.FULL:
            return _joined(plan)
        case NrrJoin():
            return _joined(plan)
        case StreamScan() | Windowed() | Union() | Join() | MultiJoin() | IStream() | DStream() | RStream():
            return set()  # may have duplicates, or nothing is known
        case _:
            assert_never(plan)


def is_unique(plan: Plan, columns: Iterable[int]) -> bool:
    """Whether no two rows of a plan agree on these columns."""
    given = frozenset(columns)
    return any(key <= given for key in keys(plan))


def partner_columns(plan: Join | NrrJoin) -> tuple[Key, Key]:
    """The columns of each side that the condition sets equal to an expression of the other side."""
    width = len(plan.left.schema)
    left = {a.index for a, _ in plan.equalities if isinstance(a, Column)}
    right = {b.index - width for _, b in plan.equalities if isinstance(b, Column)}
    return frozenset(left), frozenset(right)


def _joined(plan: Join | NrrJoin) -> set[Key]:
    """The union of a key of each side; or one side's key alone, if its rows have at most one partner each."""
    width = len(plan.left.schema)
    left, right = keys(plan.left), {frozenset(i + width for i in key) for key in keys(plan.right)}
    left_columns, right_columns = partner_columns(plan)
    found = [a | b for a in left for b in right]
    if plan.kind is not JoinKind.RIGHT and is_unique(plan.right, right_columns):
        found += left
    if isinstance(plan, Join) and plan.kind is not JoinKind.LEFT and is_unique(plan.left, left_columns):
        found += right  # not in an NRR join, where a relation's row may meet different tuples at different times
    return _shortest(found)


def _projected(known: Iterable[Key], items: tuple[Named, ...]) -> set[Key]:
    places = copied_columns(items)
    return {frozenset(places[i] for i in key) for key in known if key <= places.keys()}


def _shortest(found: Iterable[Key]) -> set[Key]:
    return set(sorted(set(found), key=lambda key: (len(key), sorted(key)))[:_MOST_KEYS])
