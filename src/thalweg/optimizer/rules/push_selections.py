"""Rules that move a selection below another operator, so that the operator sees fewer rows.

`split` divides a predicate at its ANDs: some parts move down, the others stay above. 0.0 and -0.0 are one value to
`=`, DISTINCT, GROUP BY and set operations, so a part that could tell them apart does not move below an operator that
shows one of the two for both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from thalweg.algebra.expressions import Call, Case, Cast, Column, Expression, Literal, UserFunction, shift
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
    Negation,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow, PartitionedRows
from thalweg.core.types import DataType
from thalweg.optimizer.expressions import moved, selected, split, substituted


def push_selection_below_projection(plan: Plan) -> Plan | None:
    """sigma_p(pi_L(S)) = pi_L(sigma_{p over L}(S)).

    Rows are dropped before columns are computed. Always valid: a scalar depends on its row alone and has no effects.
    """
    match plan:
        case Select(Project(child, items), predicate):
            return Project(Select(child, substituted(predicate, items)), items)
    return None


def push_selection_below_union(plan: Plan) -> Plan | None:
    """sigma_p(S1 U S2) = sigma_p(S1) U sigma_p(S2) (PatroumpasSellis2011 §5).

    Always valid: a union does not look at its rows.
    """
    match plan:
        case Select(Union(left, right), predicate):
            return Union(Select(left, predicate), Select(right, predicate))
    return None


def push_selection_below_window(plan: Plan) -> Plan | None:
    """sigma_F(W_P(S)) = W_P(sigma_F(S)) (PatroumpasSellis2011 §5).

    Logical windows only: whether they show a tuple does not depend on other tuples. `[ROWS n]` over the selected
    stream would reach further back, and `[RANGE x ON a]` would measure from another maximum.
    """
    match plan:
        case Select(Windowed(stream, LogicalWindow() as window), predicate):
            return Windowed(Select(stream, predicate), window)
    return None


def push_selection_below_partitions(plan: Plan) -> Plan | None:
    """sigma_F(W_{K,n}(S)) = W_{K,n}(sigma_F(S)) for F over the partitioning columns K alone.

    Drops whole partitions before the window stores them. PatroumpasSellis2011 §5 has no such rule for partitioned
    windows. It holds for parts of F that read columns of K only: they keep or drop a partition as a whole, and
    partitions do not affect each other.
    """
    match plan:
        case Select(Windowed(stream, PartitionedRows(keys) as window), predicate):
            down, stay = split(predicate, lambda read: read <= set(keys))
            if down and not any(map(_distinguishes_zeros, down)):
                return selected(Windowed(selected(stream, down), window), stay)
    return None


def push_selection_below_outer_join(plan: Plan) -> Plan | None:
    """sigma_F(S1 =|x| S2) = sigma_F(S1) =|x| S2 for F over the side whose rows all survive.

    Every result of a surviving row contains that row, whether it has a partner or not. LEFT: parts of F over the left
    side; RIGHT: over the right side. A part over the other side sees NULLs that do not exist below the join, and in a
    FULL join that is true of both sides.
    """
    match plan:
        case Select(Join(kind=JoinKind.LEFT) | NrrJoin(kind=JoinKind.LEFT) as join, predicate):
            width = len(join.left.schema)
            down, stay = split(predicate, lambda read: max(read) < width)
            return selected(replace(join, left=selected(join.left, down)), stay) if down else None
        case Select(Join(kind=JoinKind.RIGHT) as join, predicate):
            width = len(join.left.schema)
            down, stay = split(predicate, lambda read: min(read) >= width)
            below = selected(join.right, [shift(part, -width) for part in down])
            return selected(replace(join, right=below), stay) if down else None
    return None


def push_selection_below_semi_join(plan: Plan) -> Plan | None:
    """sigma_p(S1 semi S2) = sigma_p(S1) semi S2; the same for anti.

    Left rows are dropped before the join looks for partners. Always valid: both tests decide about a left row alone.
    """
    match plan:
        case Select(SemiJoin() as join, predicate):
            return replace(join, left=Select(join.left, predicate))
    return None


def push_selection_below_distinct(plan: Plan) -> Plan | None:
    """sigma_p(delta(S)) = delta(sigma_p(S)) if p does not distinguish 0.0 from -0.0.

    A predicate treats all copies of a row alike; DISTINCT shows one zero for both.
    """
    match plan:
        case Select(Distinct(child), predicate) if not _distinguishes_zeros(predicate):
            return Distinct(Select(child, predicate))
    return None


def push_selection_below_group_by(plan: Plan) -> Plan | None:
    """sigma_F(gamma_K(S)) = gamma_K(sigma_{F over K}(S)) for F over the keys alone.

    Parts that read keys only, and at least one key: all tuples of a group share its keys. A part that reads no column
    stays, because a global aggregate has a row over an empty input too. A part over an aggregate needs the whole group.
    """
    match plan:
        case Select(GroupBy(child, keys) as group, predicate):
            down, stay = split(predicate, lambda read: max(read) < len(keys))
            if down and not any(map(_distinguishes_zeros, down)):
                below = selected(child, [substituted(part, keys) for part in down])
                return selected(replace(group, child=below), stay)
    return None


def push_selection_below_negation(plan: Plan) -> Plan | None:
    """sigma_F(S1 -_A S2) = sigma_F(S1) -_A sigma_F(S2) for F over the compared attributes A alone.

    Both sides drop all rows of a value, so the counts of equation 1 (GolabOzsu2005) stay the same for other values.
    A part that reads other attributes would change how many left rows a value has, and so how many the right rows
    leave.
    """
    match plan:
        case Select(Negation(left, right, on) as negation, predicate):
            partner = dict(on)
            down, stay = split(predicate, lambda read: read <= partner.keys())
            if down and not any(map(_distinguishes_zeros, down)):
                below = selected(right, [moved(part, partner) for part in down])
                return selected(replace(negation, left=selected(left, down), right=below), stay)
    return None


def push_selection_below_intersection(plan: Plan) -> Plan | None:
    """sigma_p(S1 n S2) = sigma_p(S1) n sigma_p(S2) if p does not distinguish 0.0 from -0.0.

    An intersection counts equal rows, and both sides drop all copies of a row.
    """
    match plan:
        case Select(Intersect(left, right), predicate) if not _distinguishes_zeros(predicate):
            return Intersect(Select(left, predicate), Select(right, predicate))
    return None


def push_selection_below_changes(plan: Plan) -> Plan | None:
    """sigma_p(ISTREAM(R)) = ISTREAM(sigma_p(R)); the same for DSTREAM, if p does not distinguish 0.0 from -0.0.

    ISTREAM and DSTREAM compare two instants row by row. Not RSTREAM: it emits all of R whenever any row changes, also
    one that the selection drops.
    """
    match plan:
        case Select(IStream(child) | DStream(child) as changes, predicate) if not _distinguishes_zeros(predicate):
            return changes.with_children(Select(child, predicate))
    return None


def _distinguishes_zeros(expression: Expression) -> bool:
    """Whether an expression may differ between 0.0 and -0.0.

    The sign of a zero matters in a text, in the base of a power, and to a user's function.
    """
    match expression:
        case Column() | Literal():
            return False
        case Call(function, args):
            return function == "power" or isinstance(function, UserFunction) or any(map(_distinguishes_zeros, args))
        case Cast(operand, to):
            as_text = operand.type is DataType.DOUBLE and to is DataType.STRING
            return as_text or _distinguishes_zeros(operand)
        case Case(branches, default):
            return any(_distinguishes_zeros(part) for branch in (*branches, (default,)) for part in branch)
        case _:
            assert_never(expression)
