"""Rules that move projections down and leave out columns and aggregates that nothing above reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import assert_never

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import (
    GroupBy,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    Select,
    SemiJoin,
    Union,
    Windowed,
    keeps_arrival_order,
)
from thalweg.algebra.windows import (
    Landmark,
    LogicalWindow,
    Now,
    PartitionedRows,
    Range,
    Rows,
    Unbounded,
    ValueRange,
    Window,
)
from thalweg.optimizer.expressions import (
    columns_read,
    copied_columns,
    expressions_of,
    moved,
    selected,
    with_columns,
    with_expressions,
)

Places = Mapping[int, int]  # from the old position of a column to the new one


def push_projection_below_semi_join(plan: Plan) -> Plan | None:
    """pi_L(S1 semi_J S2) = pi_L(S1) semi_J S2 if L copies the columns of S1 that J reads; the same for anti.

    The join stores narrower left rows, and no projection stands between an anti-join and the join above which
    `pull_anti_join_above_join` moves it.
    """
    match plan:
        case Project(SemiJoin(left, right, condition) as semi, items):
            width, places = len(left.schema), copied_columns(items)
            if {i for i in columns_of(condition) if i < width} <= places.keys():
                places |= {width + j: len(items) + j for j in range(len(right.schema))}
                return replace(semi, left=Project(left, items), condition=moved(condition, places))
    return None


def push_projection_below_union(plan: Plan) -> Plan | None:
    """pi_L(S1 U S2) = pi_L(S1) U pi_L(S2) (PatroumpasSellis2011 §5).

    Always valid. Operators below the union may then do without the other columns.
    """
    match plan:
        case Project(Union(left, right), items):
            return Union(Project(left, items), Project(right, items))
    return None


def push_projection_below_window(plan: Plan) -> Plan | None:
    """pi_L(W_P(S)) = W_P(pi_L(S)) (PatroumpasSellis2011 §5).

    Windows store narrower tuples. Always valid for logical windows. For physical ones, L must copy the columns that
    the window reads, and the stream must come in order of arrival: a derived stream breaks ties by the whole row, which
    L changes.
    """
    match plan:
        case Project(Windowed(stream, window), items):
            places = copied_columns(items)
            physical = not isinstance(window, LogicalWindow)
            if not set(window.columns) <= places.keys() or (physical and not keeps_arrival_order(stream)):
                return None
            return Windowed(Project(stream, items), _moved_window(window, places))
    return None


def _moved_window(window: Window, places: Places) -> Window:
    """The window over columns at new positions."""
    match window:
        case PartitionedRows(keys):
            return replace(window, keys=tuple(places[k] for k in keys))
        case ValueRange(column):
            return replace(window, column=places[column])
        case Rows() | Range() | Now() | Unbounded() | Landmark():
            return window
        case _:
            assert_never(window)


def prune_aggregates(plan: Plan) -> Plan | None:
    """pi_L(gamma_{K; A}(S)) = pi_L(gamma_{K; A'}(S)), where A' are the aggregates that L reads.

    Below a projection or another group-by, also through a selection. Keys stay, because they define the groups. A
    global aggregate keeps one aggregate, because it has its row all the same.
    """
    match plan:
        case Project(Select(GroupBy() as group, predicate)) | GroupBy(Select(GroupBy() as group, predicate)):
            parts = [predicate]
        case Project(GroupBy() as group) | GroupBy(GroupBy() as group):
            parts = []
        case _:  # the rule does not apply
            return None
    width = len(group.keys)
    wanted = columns_read(expressions_of(plan)).union(*map(columns_of, parts))
    stay = [i for i in range(len(group.aggregates)) if i + width in wanted]
    stay = stay or [0] * (not group.keys)
    if len(stay) == len(group.aggregates):
        return None
    places = {i: i for i in range(width)} | {width + old: width + new for new, old in enumerate(stay)}
    below = replace(group, aggregates=tuple(group.aggregates[i] for i in stay))
    child = selected(below, [moved(part, places) for part in parts])
    return with_expressions(plan, lambda e: moved(e, places), child)


def prune_join_columns(plan: Plan) -> Plan | None:
    """pi_L(S1 |x|_J S2) = pi_L(pi_L1(S1) |x|_J pi_L2(S2)), where L1 and L2 are the columns that L and J read.

    Joins store only columns that are read above them or by their condition (PatroumpasSellis2011 §5). Below a
    projection or a group-by, also through a selection. Not below DISTINCT, a negation or a top-k, which compare whole
    rows.
    """
    if not isinstance(plan, Project | GroupBy):
        return None
    pruned = _pruned(plan.child, columns_read(expressions_of(plan)))
    if pruned is None:
        return None
    narrower, places = pruned
    return with_expressions(plan, lambda e: moved(e, places), narrower)


def _pruned(plan: Plan, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    """A join, perhaps below a selection, without columns that are neither wanted nor read, and their new positions.

    None if the plan has no join or no such column. Each side keeps at least one column, because it still has rows.
    """
    match plan:
        case Select(child, predicate):
            below = _pruned(child, wanted | columns_of(predicate))
            return None if below is None else (Select(below[0], moved(predicate, below[1])), below[1])
        case Join() | NrrJoin() | SemiJoin():
            return _pruned_join(plan, wanted | columns_of(plan.condition))
        case MultiJoin():
            return _pruned_multi_join(plan, wanted | columns_of(plan.condition))
    return None


def _pruned_join(plan: Join | NrrJoin | SemiJoin, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    width = len(plan.left.schema)
    left = sorted(i for i in wanted if i < width) or [0]
    right = sorted(i - width for i in wanted if i >= width) or [0]
    if len(left) == width and len(right) == len(plan.right.schema):
        return None
    order = [*left, *(i + width for i in right)]
    places = {old: new for new, old in enumerate(order)}
    sides = _pruned_side(plan.left, left), _pruned_side(plan.right, right)
    return replace(plan, left=sides[0], right=sides[1], condition=moved(plan.condition, places)), places


def _pruned_multi_join(plan: MultiJoin, wanted: frozenset[int]) -> tuple[Plan, Places] | None:
    by_input = [[i for i in sorted(wanted) if a <= i < b] or [a] for a, b in pairwise(plan.offsets)]
    order = [i for columns in by_input for i in columns]
    if len(order) == len(plan.schema):
        return None
    places = {old: new for new, old in enumerate(order)}
    sides = zip(plan.inputs, plan.offsets[:-1], by_input, strict=True)
    inputs = tuple(_pruned_side(side, [i - first for i in columns]) for side, first, columns in sides)
    return MultiJoin(inputs, moved(plan.condition, places)), places


def _pruned_side(side: Plan, wanted: list[int]) -> Plan:
    return side if len(wanted) == len(side.schema) else with_columns(side, wanted)


def prune_partner_columns(plan: Plan) -> Plan | None:
    """S1 semi_J S2 = S1 semi_J pi_L2(S2); S1 -_A S2 = S1 -_A pi_A(S2).

    The right side of a semi-join, an anti-join or a negation keeps only the columns that are compared. Always valid:
    results do not contain its columns. The left side of a negation keeps all columns, by which ties are broken.
    """
    match plan:
        case SemiJoin(left, right, condition):
            width = len(left.schema)
            read = sorted(i - width for i in columns_of(condition) if i >= width) or [0]
            if len(read) == len(right.schema):
                return None
            places = {i: i for i in range(width)} | {width + old: width + new for new, old in enumerate(read)}
            return replace(plan, right=with_columns(right, read), condition=moved(condition, places))
        case Negation(_, right, on):
            read = sorted({j for _, j in on})
            if len(read) == len(right.schema):
                return None
            return replace(plan, right=with_columns(right, read), on=tuple((i, read.index(j)) for i, j in on))
    return None
