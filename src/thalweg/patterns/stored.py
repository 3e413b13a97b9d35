"""Every buffer that the kernel's operators keep in strategy "auto", operator by operator."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import conjuncts
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
    RStream,
    SemiJoin,
    TopK,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Range, Rows, ValueRange
from thalweg.patterns.buffers import (
    BufferChoice,
    BufferKind,
    Holds,
    buffer_for,
    distinct_side_buffer,
    knows_ends,
    side_buffer,
)
from thalweg.patterns.direct import is_direct
from thalweg.patterns.ordered import prefers_orders
from thalweg.patterns.pattern import Edge, Expiry

Choices = tuple[BufferChoice, ...]

_LEAVES = "known ends wait in order of time; what leaves is taken out of its group"


def buffers(node: Plan, inputs: Sequence[Edge], output: Edge, dated: bool = False) -> Choices:
    """The operator's buffers, given the labels of its inputs and of its output, and whether the plan keeps dates."""
    match node:
        case Windowed():
            return _window(node)
        case NrrJoin():  # the left side is not stored: updates of the NRR never look back at it
            return (BufferChoice(BufferKind.HASH, Holds.RIGHT, "tuples of the left side probe the NRR and pass on"),)
        case Join():
            return _join(node, inputs, output, dated)
        case SemiJoin():
            return _semi_join(node, inputs, dated)
        case Negation() | Intersect():  # an intersection is what a negation leaves out
            return _negation(inputs)
        case Distinct():
            return _distinct(inputs[0], is_direct(node.child, dated), dated)
        case GroupBy():
            return _group_by(node, inputs[0], is_direct(node.child, dated), dated)
        case TopK():
            return (_top_k(inputs[0], is_direct(node.child, dated)),)
        case RStream():
            return (BufferChoice(BufferKind.SEQUENCE, Holds.BEFORE, "whatever changes, all of it is told again"),)
        case IStream() | DStream() if knows_ends(inputs[0]):
            return (BufferChoice(BufferKind.TIMELINE, Holds.BEFORE, "known ends wait in order of time"),)
    # Scans, selections, projections and unions; ISTREAM and DSTREAM whose input says every change by itself.
    return ()


def _window(node: Windowed) -> Choices:
    """A time window stamps each tuple with its end and keeps none, but for those that wait for a slide."""
    match node.window:
        case Rows():
            return (BufferChoice(BufferKind.QUEUES, Holds.WINDOW, "one partition: its oldest tuple leaves first"),)
        case PartitionedRows():
            return (BufferChoice(BufferKind.QUEUES, Holds.WINDOW, "the oldest tuple of a key leaves first"),)
        case ValueRange():
            return (BufferChoice(BufferKind.TIMELINE, Holds.WINDOW, "in order of value: the least leave first"),)
        case Range(slide=slide) if slide > 1:
            return (BufferChoice(BufferKind.TIMELINE, Holds.WAITING, "arrivals wait for the next slide"),)
    return ()


def _join(node: Join, inputs: Sequence[Edge], output: Edge, dated: bool) -> Choices:
    """Both sides; an outer join also finds out who has no partner."""
    found = [side_buffer(inputs[0], Holds.LEFT), side_buffer(inputs[1], Holds.RIGHT)]
    if prefers_orders(node):
        why = "results are found by the order of either tuple; each other candidate was ruled out but once"
        found.append(BufferChoice(BufferKind.CATALOGUES, Holds.RESULT, why))
    if node.kind in (JoinKind.LEFT, JoinKind.FULL):
        found += _semi_join(SemiJoin(node.left, node.right, node.condition), inputs, dated)
    if node.kind in (JoinKind.RIGHT, JoinKind.FULL):
        found += _partners(node, (inputs[1], inputs[0]), (node.right, node.left), dated)
    return tuple(found)


def _semi_join(node: SemiJoin, inputs: Sequence[Edge], dated: bool) -> Choices:
    return _partners(node, inputs, (node.left, node.right), dated)


def _partners(node: Join | SemiJoin, inputs: Sequence[Edge], sides: tuple[Plan, Plan], dated: bool) -> Choices:
    """Whose partners there are: by the distinct keys of the other side, or by the distinct rows that have met it."""
    (mine, theirs), (edge, other) = sides, inputs
    left = side_buffer(edge, Holds.LEFT)
    by_key = len(node.equalities) == len(conjuncts(node.condition)) > 0
    small = not dated and is_direct(theirs, dated)
    if by_key:
        return (left, *_distinct(other, small, dated), distinct_side_buffer(small))
    values = not dated and is_direct(mine, dated)
    met = (*_distinct(edge, values, dated), distinct_side_buffer(values), side_buffer(other, Holds.RIGHT))
    return (left, *met, *_distinct(other, values and small, dated), distinct_side_buffer(values and small))


def _negation(inputs: Sequence[Edge]) -> Choices:
    """The left tuples of a value in order of exp; of the right ones their number, and the ends that are known."""
    left = BufferChoice(BufferKind.QUEUES, Holds.LEFT, "by value, in order of exp: the first to expire stay longest")
    if knows_ends(inputs[1]):
        return (left, BufferChoice(BufferKind.TIMELINE, Holds.RIGHT, "tuples are counted by value; known ends wait"))
    return (left, BufferChoice(BufferKind.ARRAY, Holds.RIGHT, "tuples are counted by value"))


def _distinct(edge: Edge, direct: bool, dated: bool) -> Choices:
    """delta* needs to know which of two equal tuples leaves last; else duplicates are counted."""
    if direct and not dated:
        if edge.expiry is Expiry.NEVER:
            return (BufferChoice(BufferKind.DELTA, Holds.RESULT, "nothing leaves: the shown tuple suffices"),)
        why = "no early deletions: the shown tuple and the last to expire of each value suffice"
        return (BufferChoice(BufferKind.DELTA, Holds.DUPLICATES, why),)
    found = [BufferChoice(BufferKind.ARRAY, Holds.RESULT, "duplicates are counted by value")]
    if dated:
        found.append(BufferChoice(BufferKind.HASH, Holds.INPUT, "the dates of all duplicates, by value"))
    elif knows_ends(edge):
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.INPUT, _LEAVES))
    return tuple(found)


def _group_by(node: GroupBy, edge: Edge, direct: bool, dated: bool) -> Choices:
    """A row per group, and what it takes to let a tuple leave."""
    aggregates = [a.aggregate for a in node.aggregates]
    found = []
    if knows_ends(edge) and (not direct or any(a.is_progressive for a in aggregates)):
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.INPUT, _LEAVES))
    if dated or any(a.function in ("min", "max") for a in aggregates):
        found.append(_extremes(edge, direct))
    if any(a.distinct and a.function not in ("min", "max") for a in aggregates):
        found += [BufferChoice(c.kind, Holds.ARGUMENTS, c.why) for c in _distinct(edge, direct, dated=False)]
    return (*found, BufferChoice(BufferKind.ARRAY, Holds.RESULT, "a new value overwrites its group's last one"))


def _extremes(edge: Edge, direct: bool) -> BufferChoice:
    if not direct:
        return BufferChoice(BufferKind.HASH, Holds.INPUT, "any value of a group may become its best")
    holds = Holds.RESULT if edge.expiry is Expiry.NEVER else Holds.INPUT
    return BufferChoice(BufferKind.STAIRCASE, holds, "a value that a better one outlives is never shown")


def _top_k(edge: Edge, direct: bool) -> BufferChoice:
    if not direct:
        return BufferChoice(BufferKind.RANKED, Holds.INPUT, "any tuple may move up when better ones go")
    holds = Holds.RESULT if edge.expiry is Expiry.NEVER else Holds.INPUT
    return BufferChoice(BufferKind.RANKED, holds, "the k-skyband: what k better ones outlive never shows")
