"""Rules about duplicate elimination: leave it out, or move it below joins."""

from __future__ import annotations

from dataclasses import replace

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    Intersect,
    Join,
    JoinKind,
    Negation,
    Plan,
    Project,
    Select,
    SemiJoin,
    Union,
)
from thalweg.core.types import DataType
from thalweg.optimizer.expressions import copied_columns
from thalweg.optimizer.keys import is_unique, keys
from thalweg.patterns import Pattern, derive


def eliminate_instead_of_group(plan: Plan) -> Plan | None:
    """gamma_{K;}(S) = delta(pi_K(S)): groups without aggregates are distinct values.

    delta* knows when a value expires; a group ends only when a negative tuple deletes it. The rows and their ts agree;
    exp does not (that of a group is FOREVER), so not where an operator above reads dates. Nor over strict inputs, which
    would make the result strict (rule 3 of GolabOzsu2005 §5.2) where groups stay weak (rule 4).
    """
    match plan:
        case GroupBy(child, keys, ()) if keys and derive(child).pattern is not Pattern.STR:
            return Distinct(Project(child, keys))
    return None


def drop_distinct(plan: Plan) -> Plan | None:
    """delta(S) = S if S has a key, and so no duplicates.

    Groups, DISTINCT, primary keys and `[PARTITION BY k ROWS 1]` have keys, and so have joins, selections and
    projections that keep them. The dates are those of the only copy.
    """
    match plan:
        case Distinct(child) if keys(child):
            return child
    return None


def drop_inner_distinct(plan: Plan) -> Plan | None:
    """delta(pi(delta(S))) = delta(pi(S)); delta(delta(S1) U S2) = delta(S1 U S2); S1 semi delta(S2) = S1 semi S2.

    An input needs no duplicate elimination if the operator above does not count duplicates. Valid through projections,
    selections and unions, because the maximum of maxima is the maximum: delta shows the latest expiry of each value.
    Semi- and anti-joins only search their right side. A negation or an intersection counts right rows up to the number
    of left rows of the value, so each value must have at most one left row, as in EXCEPT and INTERSECT.
    """
    match plan:
        case Distinct(child):
            return Distinct(_with_duplicates(child))
        case SemiJoin(right=right):
            return replace(plan, right=_with_duplicates(right))
        case Negation(left, right, on) if is_unique(left, (i for i, _ in on)):
            return replace(plan, right=_with_duplicates(right))
        case Intersect(left, right) if keys(left):
            return replace(plan, right=_with_duplicates(right))
    return None


def _with_duplicates(plan: Plan) -> Plan:
    """The plan without the duplicate eliminations at its top."""
    match plan:
        case Distinct(child):
            return _with_duplicates(child)
        case Project(child) | Select(child):
            return plan.with_children(_with_duplicates(child))
        case Union(left, right):
            return Union(_with_duplicates(left), _with_duplicates(right))
    return plan


def push_distinct_below_projection(plan: Plan) -> Plan | None:
    """delta(pi_L(S)) = pi_L(delta(S)) if rows of S that differ also differ in L.

    Moves duplicate elimination towards joins. L must copy every column of S, or a column that the condition of an inner
    join sets equal to it. An equality of doubles does not count: 0.0 equals -0.0.
    """
    match plan:
        case Distinct(Project(child, items)):
            determined = set(copied_columns(items))
            determined |= _equal_columns(child, determined)
            return Project(Distinct(child), items) if len(determined) == len(child.schema) else None
    return None


def _equal_columns(plan: Plan, given: set[int]) -> set[int]:
    """The columns that the condition of an inner join sets equal to one of the given columns."""
    if not isinstance(plan, Join) or plan.kind is not JoinKind.INNER:
        return set()
    found: set[int] = set()
    for a, b in plan.equalities:
        if isinstance(a, Column) and isinstance(b, Column) and a.type is not DataType.DOUBLE:
            found |= {b.index} if a.index in given else set()
            found |= {a.index} if b.index in given else set()
    return found


def push_distinct_below_join(plan: Plan) -> Plan | None:
    """delta(S1 |x| S2) = delta(S1) |x| delta(S2); delta(S1 semi S2) = delta(S1) semi S2; the same for anti.

    The output of delta* serves as the join's input state (GolabOzsu2005 §5.4.2). Dates agree: a pair's ts is the later
    and its exp the earlier of two dates, so the latest pair consists of the latest copies. Inner, LEFT and RIGHT joins.
    Not FULL joins, where a row of NULLs may come from either side. Not NRR joins, where copies of a tuple meet the
    relation at different times and keep what they met.
    """
    match plan:
        case Distinct(Join(left, right, _, kind) as join) if kind is not JoinKind.FULL:
            return replace(join, left=Distinct(left), right=Distinct(right))
        case Distinct(SemiJoin(left) as semi):
            return replace(semi, left=Distinct(left))
    return None
