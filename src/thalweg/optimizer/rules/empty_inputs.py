"""Rules about inputs without tuples, and how a plan says that it has none.

The empty plan is `sigma_FALSE` of a source, under a projection to NULLs if the columns differ. A leaf without a source
would be shorter, but a plan over such a leaf alone would have no stream to advance its clock. The empty plan consists
of operators that every engine has, and drops rows as soon as they are read.
"""

from __future__ import annotations

from thalweg.algebra.expressions import FALSE
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
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
from thalweg.optimizer.expressions import all_columns, all_nulls


def empty(plan: Plan) -> Plan:
    """The empty plan with the columns of `plan`; over a stream if there is one below, so that it can take a window."""
    source = min((node for node in plan.walk() if not node.children), key=_preference)
    none = Select(source, FALSE)
    return none if source.schema == plan.schema else Project(none, all_nulls(plan.schema))


def is_empty(plan: Plan) -> bool:
    """Whether the plan is a selection on FALSE, perhaps below projections."""
    match plan:
        case Project(child):
            return is_empty(child)
        case Select(_, predicate):
            return predicate == FALSE
    return False


def _preference(leaf: Plan) -> int:
    """Streams first, then relations whose changes apply to earlier tuples too, then other relations."""
    if isinstance(leaf, StreamScan):
        return 0
    return 1 if isinstance(leaf, RelationScan) and leaf.source.retroactive else 2


def fold_empty_input(plan: Plan) -> Plan | None:
    """op(empty) = empty for operators of one input; LIMIT 0 = empty; DSTREAM(stream) = empty.

    A stream only grows, so DSTREAM of it has no results. Not a global aggregate: over an empty input it has one row
    (COUNT 0, the others NULL).
    """
    match plan:
        case TopK(limit=0):
            return empty(plan)
        case DStream(child) if child.is_stream:
            return empty(plan)
        case GroupBy(child, keys) if is_empty(child) and keys:
            return empty(plan)
        case Windowed(child) | Distinct(child) | TopK(child) | IStream(child) | DStream(child) | RStream(child):
            return empty(plan) if is_empty(child) else None
        case Select() | Project() if is_empty(plan) or is_empty(plan.child):
            return empty(plan)
    return None


def fold_empty_set_input(plan: Plan) -> Plan | None:
    """S U empty = S; S - empty = S; empty - S = empty; S n empty = empty."""
    match plan:
        case Union(left, right) if is_empty(left):
            return _renamed(right, plan)
        case Union(left, right) | Negation(left, right) if is_empty(right):
            return left
        case Negation(left) if is_empty(left):
            return empty(plan)
        case Intersect(left, right) if is_empty(left) or is_empty(right):
            return empty(plan)
    return None


def _renamed(plan: Plan, like: Plan) -> Plan:
    """A plan under the column names of another."""
    items = zip(all_columns(plan.schema), like.schema.names, strict=True)
    return Project(plan, tuple(Named(item.expression, name) for item, name in items))


def fold_empty_join_input(plan: Plan) -> Plan | None:
    """S |x| empty = empty; S =|x| empty = S x NULLs; S semi empty = empty; S anti empty = S.

    A condition that is FALSE has the same effect as an empty side: only rows that survive without a partner stay.
    """
    match plan:
        case SemiJoin(left, right, condition, anti):
            if is_empty(left) or ((is_empty(right) or condition == FALSE) and not anti):
                return empty(plan)
            return left if is_empty(right) or condition == FALSE else None
        case Join(left, right, condition, kind) | NrrJoin(left, right, condition, kind):
            no_left, no_right = is_empty(left), is_empty(right)
            if not (no_left or no_right or condition == FALSE):
                return None
            left_survives = kind in (JoinKind.LEFT, JoinKind.FULL) and not no_left
            right_survives = kind in (JoinKind.RIGHT, JoinKind.FULL) and not no_right
            return _survivors(plan, left, right, left_survives, right_survives)
    return None


def _survivors(plan: Plan, left: Plan, right: Plan, left_survives: bool, right_survives: bool) -> Plan | None:
    """The rows of the surviving side, with NULLs for the other side's columns."""
    if left_survives and right_survives:
        return None  # a FULL join on FALSE: a union of two projections would be no cheaper
    if left_survives:
        return Project(left, all_columns(left.schema) + all_nulls(right.schema))
    if right_survives:
        return Project(right, all_nulls(left.schema) + all_columns(right.schema))
    return empty(plan)
