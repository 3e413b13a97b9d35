"""Every buffer that the kernel's operators keep in strategy "auto", operator by operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thalweg.algebra.expressions import conjuncts
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
    RStream,
    SemiJoin,
    TopK,
    Windowed,
    join_graph,
)
from thalweg.algebra.windows import PartitionedRows, Range, Rows, ValueRange
from thalweg.patterns.buffers import (
    BufferChoice,
    BufferKind,
    Holds,
    distinct_side_buffer,
    side_buffer,
)
from thalweg.patterns.direct import is_direct, knows_ends
from thalweg.patterns.ordered import prefers_orders
from thalweg.patterns.pattern import Edge

Choices = tuple[BufferChoice, ...]

_LEAVES = "known ends wait in order of time; what leaves is taken out of its group"


def buffers(node: Plan, inputs: Sequence[Edge], dated: bool = False) -> Choices:
    """The operator's buffers, given the labels of its inputs, and whether the plan keeps dates."""
    sides = [_Input.of(child, dated) for child in node.children]
    match node:
        case Windowed():
            return _window(node)
        case NrrJoin():  # the left side is not stored: updates of the NRR never look back at it
            return (BufferChoice(BufferKind.HASH, Holds.RIGHT, "tuples of the left side probe the NRR and pass on"),)
        case Join():
            return _join(node, inputs, sides)
        case MultiJoin():
            return _multi_join(node, inputs)
        case SemiJoin():
            return _partners(node, inputs, sides)
        case Negation() | Intersect():  # an intersection is what a negation leaves out
            return _negation(*sides)
        case Distinct():
            return _distinct(sides[0])
        case GroupBy():
            return _group_by(node, sides[0])
        case TopK():
            return (_top_k(sides[0]),)
        case RStream():
            return (BufferChoice(BufferKind.SEQUENCE, Holds.BEFORE, "whatever changes, all of it is told again"),)
        case IStream() | DStream() if sides[0].ends:
            return (BufferChoice(BufferKind.TIMELINE, Holds.BEFORE, "known ends wait in order of time"),)
    # Scans, selections, projections and unions; ISTREAM and DSTREAM whose input says every change by itself.
    return ()


@dataclass(frozen=True)
class _Input:
    """What decides between operators: no negative tuples, ends that are known on arrival, dates."""

    direct: bool
    ends: bool
    dated: bool

    @staticmethod
    def of(plan: Plan, dated: bool) -> _Input:
        """What a plan gives."""
        return _Input(is_direct(plan, dated), knows_ends(plan, dated), dated)

    @property
    def small(self) -> bool:
        """Whether delta* eliminates its duplicates."""
        return self.direct and not self.dated


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


def _join(node: Join, edges: Sequence[Edge], sides: Sequence[_Input]) -> Choices:
    """Both sides; an outer join also finds out who has no partner."""
    found = [side_buffer(edges[0], Holds.LEFT), side_buffer(edges[1], Holds.RIGHT)]
    if prefers_orders(node):
        why = "the order of either tuple leads to its results; other candidates are not looked at again"
        found.append(BufferChoice(BufferKind.CATALOGUES, Holds.RESULT, why))
        ends = "tuples that end by themselves give up their places"
        named = zip(sides, (Holds.LEFT, Holds.RIGHT), strict=True)
        found += [BufferChoice(BufferKind.TIMELINE, holds, ends) for side, holds in named if side.ends]
    if node.kind in (JoinKind.LEFT, JoinKind.FULL):
        found += _partners(node, edges, sides)
    if node.kind in (JoinKind.RIGHT, JoinKind.FULL):
        found += _partners(node, edges[::-1], sides[::-1], (Holds.RIGHT, Holds.LEFT))
    return tuple(found)


def _multi_join(node: MultiJoin, edges: Sequence[Edge]) -> Choices:
    """Every input once for each attribute by which it is probed, or once to be scanned; no intermediate results."""
    attributes = join_graph(node.condition, node.offsets).attributes
    times = [max(1, sum(i in attribute.inputs for attribute in attributes)) for i in range(len(edges))]
    return tuple(side_buffer(edge, Holds.EACH) for edge, n in zip(edges, times, strict=True) for _ in range(n))


def _partners(
    node: Join | SemiJoin,
    edges: Sequence[Edge],
    sides: Sequence[_Input],
    holds: tuple[Holds, Holds] = (Holds.LEFT, Holds.RIGHT),
) -> Choices:
    """Who has partners: by the distinct keys of the other side, or by the distinct rows that have met it."""
    mine, theirs = sides
    asking = side_buffer(edges[0], holds[0])
    by_key = len(node.equalities) == len(conjuncts(node.condition)) > 0
    if by_key:
        return (asking, *_distinct_side(theirs, holds[1]))
    met = replace(theirs, direct=mine.small and theirs.direct, ends=(mine.small and mine.ends) or theirs.ends)
    return (
        asking,
        *_distinct_side(mine, holds[0]),
        side_buffer(edges[1], holds[1]),
        *_distinct_side(met, holds[1]),
    )


def _distinct_side(input_: _Input, holds: Holds) -> Choices:
    """A duplicate elimination that stands before a join's side, and that side; `holds` is what goes into it."""
    contents = {Holds.RESULT: Holds.PARTNERS, Holds.INPUT: holds}
    before = [BufferChoice(c.kind, contents.get(c.holds, c.holds), c.why) for c in _distinct(input_)]
    return (*before, distinct_side_buffer(input_.small))


def _negation(left: _Input, right: _Input) -> Choices:
    """The left tuples of a value in order of exp; of the right ones their number, and the ends that are known."""
    found = [BufferChoice(BufferKind.QUEUES, Holds.LEFT, "by value, in order of exp: the last to expire go first")]
    if left.ends and not left.direct:
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.LEFT, "ends that may be taken back wait"))
    if right.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.RIGHT, "tuples are counted by value; known ends wait"))
    else:
        found.append(BufferChoice(BufferKind.ARRAY, Holds.RIGHT, "tuples are counted by value"))
    return tuple(found)


def _distinct(input_: _Input) -> Choices:
    """delta* needs to know which of two equal tuples leaves last; else duplicates are counted."""
    if input_.small:
        if not input_.ends:
            return (BufferChoice(BufferKind.DELTA, Holds.RESULT, "nothing leaves: the shown tuple suffices"),)
        why = "no early deletions: the shown tuple and the last to expire of each value suffice"
        return (BufferChoice(BufferKind.DELTA, Holds.DUPLICATES, why),)
    found = [BufferChoice(BufferKind.ARRAY, Holds.RESULT, "duplicates are counted by value")]
    if input_.dated:
        found.append(BufferChoice(BufferKind.HASH, Holds.INPUT, "the dates of all duplicates, by value"))
    if input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.INPUT, _LEAVES))
    return tuple(found)


def _group_by(node: GroupBy, input_: _Input) -> Choices:
    """A row per group, and what it takes to let a tuple leave."""
    aggregates = [a.aggregate for a in node.aggregates]
    found = []
    if input_.direct and not any(a.is_progressive for a in aggregates):
        found.append(BufferChoice(BufferKind.DELTA, Holds.RESULT, "a group is there as long as its last tuple"))
    elif input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.INPUT, _LEAVES))
    if input_.dated or any(a.function in ("min", "max") for a in aggregates):
        found.append(_extremes(input_))
    if any(a.distinct and a.function not in ("min", "max") for a in aggregates):
        found += [BufferChoice(c.kind, Holds.ARGUMENTS, c.why) for c in _distinct(replace(input_, dated=False))]
    if any(a.user is not None for a in aggregates) and input_.direct and input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, Holds.INPUT, _LEAVES))
    if any(a.user is not None and not a.user.is_incremental for a in aggregates):
        found.append(BufferChoice(BufferKind.HASH, Holds.ARGUMENTS, "a user's function sees all values of a group"))
    return (*found, BufferChoice(BufferKind.ARRAY, Holds.RESULT, "a new value overwrites its group's last one"))


def _extremes(input_: _Input) -> BufferChoice:
    if not input_.direct:
        return BufferChoice(BufferKind.HASH, Holds.INPUT, "any value of a group may become its best")
    holds = Holds.INPUT if input_.ends else Holds.RESULT
    return BufferChoice(BufferKind.STAIRCASE, holds, "a value that a better one outlives is never shown")


def _top_k(input_: _Input) -> BufferChoice:
    if not input_.direct:
        return BufferChoice(BufferKind.RANKED, Holds.INPUT, "any tuple may move up when better ones go")
    holds = Holds.INPUT if input_.ends else Holds.RESULT
    return BufferChoice(BufferKind.RANKED, holds, "the k-skyband: what k better ones outlive never shows")
