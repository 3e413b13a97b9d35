"""Relational operators on lists of dated tuples, one function each: the table "Operators and dates" as a program.

Slow and literal on purpose: nested loops, no indexes, no code in common with any engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import product

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import JoinKind, Named, NamedAggregate, SortKey
from thalweg.core.rows import Dated, Row, Value, row_key
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.reference.aggregates import aggregate
from thalweg.reference.scalars import evaluate

Tuples = list[Dated]


def select(tuples: Tuples, predicate: Expression) -> Tuples:
    """The tuples for which the predicate is true; false and NULL drop them."""
    return [d for d in tuples if evaluate(predicate, d.row) is True]


def project(tuples: Tuples, items: Sequence[Named]) -> Tuples:
    """One computed row per tuple."""
    return [d._replace(row=project_row(d.row, items)) for d in tuples]


def project_row(row: Row, items: Sequence[Named]) -> Row:
    """The computed row."""
    return tuple(evaluate(item.expression, row) for item in items)


def join(left: Tuples, right: Tuples, condition: Expression, kind: JoinKind, widths: tuple[int, int]) -> Tuples:
    """All pairs for which the condition is true, then the unmatched rows that `kind` keeps."""
    no_left, no_right = ((None,) * width for width in widths)
    result = [
        Dated(a.row + b.row, max(a.ts, b.ts), min(a.exp, b.exp))
        for a in left
        for b in right
        if evaluate(condition, a.row + b.row) is True
    ]
    if kind in (JoinKind.LEFT, JoinKind.FULL):
        unmatched = [a for a in left if not any(evaluate(condition, a.row + b.row) is True for b in right)]
        result += [a._replace(row=a.row + no_right) for a in unmatched]
    if kind in (JoinKind.RIGHT, JoinKind.FULL):
        unmatched = [b for b in right if not any(evaluate(condition, a.row + b.row) is True for a in left)]
        result += [b._replace(row=no_left + b.row) for b in unmatched]
    return result


def multi_join(inputs: Sequence[Tuples], condition: Expression) -> Tuples:
    """All combinations of a tuple from each input for which the condition is true."""
    return [
        Dated(row, max(d.ts for d in met), min(d.exp for d in met))
        for met in product(*inputs)
        if evaluate(condition, row := sum((d.row for d in met), start=())) is True
    ]


def nrr_join(
    left: Tuples, nrr: Callable[[Instant], Tuples], condition: Expression, kind: JoinKind, width: int
) -> Tuples:
    """Each left tuple with the NRR as it was at the tuple's ts; results have the left tuple's dates."""
    result = []
    for a in left:
        met: list[Row] = [b.row for b in nrr(a.ts) if evaluate(condition, a.row + b.row) is True]
        if not met and kind is JoinKind.LEFT:
            met = [(None,) * width]
        result += [a._replace(row=a.row + row) for row in met]
    return result


def semi_join(left: Tuples, right: Tuples, condition: Expression, anti: bool) -> Tuples:
    """Left tuples with a partner, or with `anti` those without."""

    def has_partner(a: Dated) -> bool:
        return any(evaluate(condition, a.row + b.row) is True for b in right)

    return [a for a in left if has_partner(a) is not anti]


def distinct(tuples: Tuples) -> Tuples:
    """Each value once, with the latest ts and the latest exp of its copies."""
    return [Dated(row, max(d.ts for d in same), max(d.exp for d in same)) for row, same in _by(tuples, lambda r: r)]


def group_by(tuples: Tuples, keys: Sequence[Named], aggregates: Sequence[NamedAggregate]) -> Tuples:
    """One row per group that is not empty; without keys, always exactly one row."""
    groups = _by(tuples, lambda row: tuple(evaluate(k.expression, row) for k in keys))
    if not keys and not groups:
        groups = [((), [])]
    return [
        Dated(key + _aggregates(members, aggregates), max((d.ts for d in members), default=BEGINNING), FOREVER)
        for key, members in groups
    ]


def negation(left: Tuples, right: Tuples, on: Sequence[tuple[int, int]]) -> Tuples:
    """max(0, n - m) left tuples per value: the first to expire; among those the oldest, then the smallest."""
    taken = {key: len(same) for key, same in _by(right, lambda row: tuple(row[j] for _, j in on))}
    result = []
    for key, same in _by(left, lambda row: tuple(row[i] for i, _ in on)):
        same.sort(key=_expiry_order)
        result += same[: max(0, len(same) - taken.get(key, 0))]
    return result


def intersect(left: Tuples, right: Tuples) -> Tuples:
    """min(n, m) left tuples per row: the last to expire; among those the youngest."""
    allowed = {row: len(same) for row, same in _by(right, lambda r: r)}
    result = []
    for row, same in _by(left, lambda r: r):
        same.sort(key=_expiry_order, reverse=True)
        result += same[: allowed.get(row, 0)]
    return result


def top_k(tuples: Tuples, keys: Sequence[SortKey], limit: int) -> Tuples:
    """The first `limit` by the keys, then by the whole row; of equal rows the first to expire, then the oldest."""
    ordered = sorted(tuples, key=lambda d: (row_key(d.row), d.exp, d.ts))
    for key in reversed(keys):  # sorting is stable, so the key sorted by last decides first
        ordered = _sorted_by(key, ordered)
    return ordered[:limit]


def _sorted_by(key: SortKey, tuples: Tuples) -> Tuples:
    def value(d: Dated) -> bool | int | float | str:
        found = evaluate(key.expression, d.row)
        assert found is not None
        return found

    nulls = [d for d in tuples if evaluate(key.expression, d.row) is None]
    others = [d for d in tuples if evaluate(key.expression, d.row) is not None]
    others.sort(key=value, reverse=key.descending)
    return nulls + others if key.nulls_first else others + nulls


def _expiry_order(d: Dated) -> tuple[object, ...]:
    return (d.exp, d.ts, row_key(d.row))


def _by(tuples: Iterable[Dated], key: Callable[[Row], Row]) -> list[tuple[Row, Tuples]]:
    """Tuples grouped by key; NULLs are equal to each other."""
    groups: defaultdict[Row, Tuples] = defaultdict(list)
    for d in tuples:
        groups[key(d.row)].append(d)
    return list(groups.items())


def _aggregates(members: Tuples, aggregates: Sequence[NamedAggregate]) -> Row:
    def values(argument: Expression | None) -> list[Value]:
        return [True if argument is None else evaluate(argument, d.row) for d in members]

    return tuple(aggregate(a.aggregate, values(a.aggregate.argument)) for a in aggregates)
