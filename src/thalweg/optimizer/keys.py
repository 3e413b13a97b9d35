"""Which columns tell all rows of a plan apart, at every instant."""

from __future__ import annotations

from collections.abc import Iterable

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    Intersect,
    Join,
    JoinKind,
    Named,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    Select,
    SemiJoin,
    TopK,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Rows
from thalweg.optimizer.expressions import copied_columns

Key = frozenset[int]

_MOST = 8  # candidate keys that are followed; a plan with more has one among these that is as good


def keys(plan: Plan) -> set[Key]:
    """Sets of columns of which no two rows have the same values, NULL being one; an empty set: at most one row."""
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
            return _few([frozenset(range(len(plan.schema))), *keys(child)])
        case GroupBy(keys=columns):
            return {frozenset(range(len(columns)))}
        case Project(child, items):
            return _shown(keys(child), items)
        case Join(kind=kind) if kind is not JoinKind.FULL:
            return _joined(plan)
        case NrrJoin():
            return _joined(plan)
    return set()


def is_unique(plan: Plan, columns: Iterable[int]) -> bool:
    """Whether no two rows of a plan agree on these columns."""
    given = frozenset(columns)
    return any(key <= given for key in keys(plan))


def partner_columns(plan: Join | NrrJoin) -> tuple[Key, Key]:
    """The plain columns of each side that the condition sets equal to something of the other side."""
    width = len(plan.left.schema)
    left = {a.index for a, _ in plan.equalities if isinstance(a, Column)}
    right = {b.index - width for _, b in plan.equalities if isinstance(b, Column)}
    return frozenset(left), frozenset(right)


def _joined(plan: Join | NrrJoin) -> set[Key]:
    """A row of each side makes at most one result; one side's key is enough if its rows have one partner at most."""
    width = len(plan.left.schema)
    left, right = keys(plan.left), {frozenset(i + width for i in key) for key in keys(plan.right)}
    mine, theirs = partner_columns(plan)
    found = [a | b for a in left for b in right]
    if plan.kind is not JoinKind.RIGHT and is_unique(plan.right, theirs):
        found += left
    if isinstance(plan, Join) and plan.kind is not JoinKind.LEFT and is_unique(plan.left, mine):
        found += right  # not with an NRR: a row of it may meet other tuples at other times
    return _few(found)


def _shown(known: Iterable[Key], items: tuple[Named, ...]) -> set[Key]:
    places = copied_columns(items)
    return {frozenset(places[i] for i in key) for key in known if key <= places.keys()}


def _few(found: Iterable[Key]) -> set[Key]:
    return set(sorted(set(found), key=lambda key: (len(key), sorted(key)))[:_MOST])
