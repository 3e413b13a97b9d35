"""Update-pattern propagation: the five rules of GolabOzsu2005 §5.2, and the windows of PatroumpasSellis2011, Table 1.

Where the papers are imprecise, the label is theirs, and the edge's `expiry` and `expiry_order` say what really holds:

- **Aggregates.** Rule 4 labels group-by WK because the next value of a group replaces the last one. That is true for
  an operator that stores the result by group. A selection may drop the next value; a join, DISTINCT, or a projection
  without the keys may turn it into other rows. Above those operators it is unknown which result a new value replaces.
  The label stays WK, but the expiry is NEGATIVE: the operator that drops or transforms the new value deletes the old
  one by a negative tuple.
- **Unions.** Rule 2 labels the union of two windows WKS. It is FIFO only if tuples of both windows expire after the
  same time; the union of `[RANGE 1]` and `[RANGE 9]` is not, and a FIFO list would keep expired tuples. Two count
  windows have two orders. So `expiry_order` is FIFO only over equal time windows.
- **Selections that are never true.** Rule 1 gives a selection the label of its input. One on FALSE has no results, so
  it is monotonic over any input, and the optimiser's empty plan is never stronger than the plan that it replaces.
- **Aggregates over landmarks** replace values, so they are WK (PatroumpasSellis2011 Table 1 says monotonic, the
  text weak).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from thalweg.algebra.expressions import FALSE, Column
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    JoinKind,
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
    is_table,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.patterns.pattern import Edge, Expiry, ExpiryOrder, Pattern

MON, WKS, WK, STR = Pattern

_OLD_VALUE_DELETED = "; a group's old value is taken back by a negative tuple"


@dataclass(frozen=True)
class Annotated:
    """A plan with a label on every edge."""

    node: Plan
    edge: Edge
    children: tuple[Annotated, ...]

    @cached_property
    def inputs(self) -> tuple[Edge, ...]:
        """The edges that lead into the node."""
        return tuple(child.edge for child in self.children)


def annotate(plan: Plan) -> Annotated:
    """The plan with every edge labelled, from the leaves up."""
    children = tuple(map(annotate, plan.children))
    return Annotated(plan, propagate(plan, [child.edge for child in children]), children)


def derive(plan: Plan) -> Edge:
    """The label of the plan's output."""
    return annotate(plan).edge


def propagate(node: Plan, inputs: Sequence[Edge]) -> Edge:
    """The label of one operator's output, given those of its inputs."""
    match node:
        case StreamScan():
            return _monotonic("a stream only grows")
        case RelationScan(source) if source.retroactive:
            return _strict("rule 5: a relation is updated at will, and updates look back")
        case RelationScan():
            return _strict("an NRR is updated at will; a join reads it as of each tuple's ts")
        case Windowed(window=window):
            return _window(window)
        case Select(predicate=predicate) if predicate == FALSE:
            return _monotonic("a selection that is never true has no results")
        case Project() if inputs[0].expiry is Expiry.REPLACEMENT and group_columns(node) is not None:
            return _as_input(inputs[0], "rule 1: as its input; the group's key is kept", Expiry.REPLACEMENT)
        case Select() | Project():
            return _as_input(inputs[0], "rule 1: as its input")
        case NrrJoin() if _can_be_dated_anew(node.left):
            why = "a later copy of a left row is joined with the NRR of its own ts, and replaces the earlier result"
            return Edge(max(inputs[0].pattern, WK), Expiry.NEGATIVE, why)
        case NrrJoin():
            return _as_input(inputs[0], "rule 1: as its left input; updates of an NRR do not look back")
        case Union():
            return _union(*inputs)
        case Join() | SemiJoin() if is_table(node.left) or is_table(node.right):
            return _strict("rule 5: updates of a relation look back at older tuples")
        case MultiJoin(inputs=parts) if any(map(is_table, parts)):
            return _strict("rule 5: updates of a relation look back at older tuples")
        case MultiJoin() | Join(kind=JoinKind.INNER) | Intersect() | SemiJoin(anti=False) | Distinct():
            return _interfering(inputs)
        case GroupBy():
            return Edge(WK, Expiry.REPLACEMENT, "rule 4: the next value of a group replaces the last one")
        case Negation() | SemiJoin():
            return _strict("rule 5: an arrival on the right deletes results early")
        case Join():
            return _strict("rule 5: a late partner deletes the row filled with NULLs")
        case TopK():
            return _strict("rule 5: a better row pushes out another before its time")
        case IStream() | DStream() | RStream():
            return _monotonic("what has been emitted stays emitted")
        case _:
            assert_never(node)


def _window(window: Window) -> Edge:
    """Table 1 of PatroumpasSellis2011."""
    match window:
        case Unbounded() | Landmark():
            return _monotonic("nothing leaves this window")
        case Range(is_tumbling=True):
            return Edge(WK, Expiry.TIME, "a tumbling window drops a whole state at a time", ExpiryOrder.TOTAL)
        case Range() | Now():
            return Edge(WKS, Expiry.TIME, "a sliding window is first in, first out", ExpiryOrder.FIFO, window)
        case Rows(is_tumbling=True):
            return _by_order(WK, "a tumbling count window drops a whole state at a time", ExpiryOrder.TOTAL)
        case Rows():
            return _by_order(WKS, "a count window is first in, first out", ExpiryOrder.FIFO)
        case PartitionedRows():
            return _by_order(WK, "a partitioned window is first in, first out only within a key", ExpiryOrder.PER_KEY)
        case ValueRange():
            return _by_order(WK, "a value window lets go by value, not by arrival", ExpiryOrder.TOTAL)
        case _:
            assert_never(window)


def group_columns(plan: Plan) -> tuple[int, ...] | None:
    """The positions of a group-by's keys in its output, perhaps after projections; None if one is missing."""
    match plan:
        case GroupBy():
            return tuple(range(len(plan.keys)))
        case Project(child, items):
            below = group_columns(child)
            places = {item.expression.index: i for i, item in enumerate(items) if isinstance(item.expression, Column)}
            return None if below is None or not set(below) <= places.keys() else tuple(places[i] for i in below)
    return None  # above any other operator there are no keys of groups


def _can_be_dated_anew(plan: Plan) -> bool:
    """Whether a row that stays in the answer can get a later ts: DISTINCT and INTERSECT take the latest one.

    A group's row is replaced anyway, and a stream operator dates each tuple once and for all.
    """
    match plan:
        case Distinct() | Intersect():
            return True
        case GroupBy() | IStream() | DStream() | RStream():
            return False
        case _:
            return any(map(_can_be_dated_anew, plan.children))


def _monotonic(why: str) -> Edge:
    return Edge(MON, Expiry.NEVER, why, ExpiryOrder.FIFO)


def _strict(why: str) -> Edge:
    return Edge(STR, Expiry.NEGATIVE, why)


def _by_order(pattern: Pattern, why: str, expiry_order: ExpiryOrder) -> Edge:
    return Edge(pattern, Expiry.ORDER, f"{why}; the expiry is an order, not a time", expiry_order)


def _as_input(edge: Edge, why: str, expiry: Expiry | None = None) -> Edge:
    """Rule 1; `expiry` is given where the operator passes replacements on unchanged."""
    if expiry is None and edge.expiry is Expiry.REPLACEMENT:
        return Edge(edge.pattern, Expiry.NEGATIVE, why + _OLD_VALUE_DELETED)
    return Edge(edge.pattern, edge.expiry, why, edge.expiry_order, edge.window)


def _union(left: Edge, right: Edge) -> Edge:
    """Rule 2: the stronger pattern of both inputs (also over a monotonic one: proposition 9, PatroumpasSellis2011)."""
    pattern = max(left.pattern, right.pattern)
    why = "rule 2: the stronger of its inputs"
    if pattern is MON:
        return _monotonic(why)
    if left.window is not None and left.window == right.window:
        return Edge(pattern, Expiry.TIME, why, ExpiryOrder.FIFO, left.window)
    if pattern is WKS:
        why += "; they let go at different paces, so not first in, first out"
    return _composite(pattern, why, (left, right))


def _interfering(inputs: Sequence[Edge]) -> Edge:
    """Rule 3, and propositions 7 and 9 of PatroumpasSellis2011: monotonic over monotonic inputs, else at least WK."""
    strongest = max(edge.pattern for edge in inputs)
    if strongest is MON:
        return _monotonic("proposition 7: nothing leaves the inputs, so nothing leaves the result")
    if strongest is STR:
        return _strict("rule 3: an input deletes early, so the result does")
    return _composite(WK, "rule 3: what is stored leaves out of order", inputs)


def _composite(pattern: Pattern, why: str, inputs: Sequence[Edge]) -> Edge:
    """A result expires with the first of its parts. Dates of two inputs can be compared, their orders cannot."""
    expiry = max(edge.expiry for edge in inputs)
    ending = [edge for edge in inputs if edge.expiry is not Expiry.NEVER]
    if expiry is Expiry.NEGATIVE:
        return Edge(pattern, Expiry.NEGATIVE, why)
    if expiry is Expiry.REPLACEMENT:
        return Edge(pattern, Expiry.NEGATIVE, why + _OLD_VALUE_DELETED)
    if expiry is Expiry.TIME:
        return Edge(pattern, expiry, why, ExpiryOrder.TOTAL)
    expiry_order = max(ExpiryOrder.TOTAL, ending[0].expiry_order) if len(ending) == 1 else ExpiryOrder.PER_SIDE
    return Edge(pattern, expiry, why, expiry_order)
