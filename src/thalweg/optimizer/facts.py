"""Facts about all rows of a plan: comparisons of its columns with constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from thalweg.algebra.expressions import FALSE, Call, Column, Expression, Literal, conjuncts, shift
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
from thalweg.core.types import DataType
from thalweg.optimizer.conditions import implies, subject_of


def facts(plan: Plan) -> list[Expression]:
    """Comparisons `column op constant` that selections make true for every row; FALSE if the plan has no rows."""
    match plan:
        case Select(child, predicate):
            return facts(child) + _comparisons(conjuncts(predicate))
        case GroupBy(keys=()):  # it has a row over an empty input too
            return []
        case Project(child, items) | GroupBy(child, items):
            return _projected(facts(child), items)
        case Windowed(child) | Distinct(child) | TopK(child) | IStream(child) | DStream(child) | RStream(child):
            return facts(child)
        case Union(left, right):
            a, b = facts(left), facts(right)
            return [f for f in a if implies(b, f)] + [f for f in b if implies(a, f)]
        case Negation(left) | Intersect(left) | SemiJoin(left):
            return facts(left)
        case Join(left, right, condition, kind) | NrrJoin(left, right, condition, kind):
            of_right = [shift(f, len(left.schema)) for f in facts(right)]
            match kind:
                case JoinKind.INNER:
                    return facts(left) + of_right + _comparisons(conjuncts(condition))
                case JoinKind.LEFT:
                    return facts(left)
                case JoinKind.RIGHT:
                    return of_right
                case JoinKind.FULL:
                    return []
                case _:
                    assert_never(kind)
        case StreamScan() | RelationScan() | MultiJoin():
            return []
        case _:
            assert_never(plan)


def is_plain(plan: Plan, index: int) -> bool:
    """Whether rules move a selection on this column down unchanged, so that `facts` will find it."""
    match plan:
        case Project(child, items):
            return isinstance(item := items[index].expression, Column) and is_plain(child, item.index)
        case GroupBy(child, keys) if index < len(keys):
            return isinstance(key := keys[index].expression, Column) and is_plain(child, key.index)
        case Join(left, right) | NrrJoin(left, right):
            width = len(left.schema)
            return is_plain(left, index) if index < width else is_plain(right, index - width)
        case Union(left, right):
            return is_plain(left, index) and is_plain(right, index)
        case Negation(left) | Intersect(left) | SemiJoin(left):
            return is_plain(left, index)
        case MultiJoin():
            return False  # `facts` finds nothing there
        case Select(child) | Windowed(child) | Distinct(child) | IStream(child) | DStream(child):
            return is_plain(child, index)
        case StreamScan() | RelationScan() | GroupBy() | TopK() | RStream():
            return True  # the selection stays above this operator, where `facts` finds it
        case _:
            assert_never(plan)


def _comparisons(parts: Iterable[Expression]) -> list[Expression]:
    return [part for part in parts if part == FALSE or _is_comparison(part)]


def _is_comparison(part: Expression) -> bool:
    return isinstance(subject_of(part), Column) and isinstance(part, Call) and len(part.args) > 1


def _projected(known: Sequence[Expression], items: Sequence[Named]) -> list[Expression]:
    """Facts about copied columns at their new positions, and about constant columns."""
    found: list[Expression] = [f for f in known if f == FALSE]
    for place, item in enumerate(items):
        here = Column(place, item.expression.type, item.name)
        match item.expression:
            case Column():
                found += [_about(f, here) for f in known if subject_of(f) == item.expression]
            case Literal(value, type_) if value is not None:
                found.append(Call("=", (here, Literal(value, type_)), DataType.BOOLEAN))
    return found


def _about(fact: Expression, column: Column) -> Expression:
    assert isinstance(fact, Call)
    return Call(fact.function, (column, *fact.args[1:]), fact.type)
