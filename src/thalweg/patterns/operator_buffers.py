"""The state buffers of every operator in strategy "auto"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
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
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange
from thalweg.patterns.buffer_kinds import BufferChoice, BufferContents, BufferKind
from thalweg.patterns.join_buffers import (
    EXPIRED_LEAVE_GROUP,
    Choices,
    InputTraits,
    distinct_buffers,
    join_buffers,
    multi_join_buffers,
    partner_buffers,
)
from thalweg.patterns.pattern import Edge


def buffers(node: Plan, inputs: Sequence[Edge], dated: bool = False) -> Choices:
    """The operator's buffers, given the labels of its inputs, and whether the plan keeps dates."""
    sides = [InputTraits.of(child, dated) for child in node.children]
    match node:
        case Windowed():
            return _window(node)
        case NrrJoin():  # the left side is not stored: updates of the NRR do not apply to earlier tuples
            return (
                BufferChoice(
                    BufferKind.HASH, BufferContents.RIGHT, "tuples of the left side probe the NRR and pass on"
                ),
            )
        case Join():
            return join_buffers(node, inputs, sides)
        case MultiJoin():
            return multi_join_buffers(node, inputs)
        case SemiJoin():
            return partner_buffers(node, inputs, sides)
        case Negation() | Intersect():  # an intersection consists of the left tuples that a negation drops
            return _negation(*sides)
        case Distinct():
            return distinct_buffers(sides[0])
        case GroupBy():
            return _group_by(node, sides[0])
        case TopK():
            return (_top_k(sides[0]),)
        case RStream():
            return (
                BufferChoice(
                    BufferKind.SEQUENCE, BufferContents.BEFORE, "any change makes RSTREAM emit all of it again"
                ),
            )
        case IStream() | DStream() if sides[0].ends:
            return (BufferChoice(BufferKind.TIMELINE, BufferContents.BEFORE, "known ends wait in order of time"),)
        case IStream() | DStream():  # every change of the input comes as a tuple
            return ()
        case StreamScan() | RelationScan() | Select() | Project() | Union():
            return ()
        case _:
            assert_never(node)


def _window(node: Windowed) -> Choices:
    """A time window gives each tuple its date of expiry, and stores only tuples that wait for a slide."""
    match node.window:
        case Rows():
            return (
                BufferChoice(BufferKind.QUEUES, BufferContents.WINDOW, "one partition: its oldest tuple leaves first"),
            )
        case PartitionedRows():
            return (BufferChoice(BufferKind.QUEUES, BufferContents.WINDOW, "the oldest tuple of a key leaves first"),)
        case ValueRange():
            return (
                BufferChoice(BufferKind.TIMELINE, BufferContents.WINDOW, "in order of value: the least leave first"),
            )
        case Range(slide=slide) if slide > 1:
            return (BufferChoice(BufferKind.TIMELINE, BufferContents.WAITING, "arrivals wait for the next slide"),)
        case Range() | Now() | Landmark() | Unbounded():
            return ()
        case _:
            assert_never(node.window)


def _negation(left: InputTraits, right: InputTraits) -> Choices:
    """The left tuples of each value in order of exp; the number of right tuples, and their known expiries."""
    found = [
        BufferChoice(BufferKind.QUEUES, BufferContents.LEFT, "by value, in order of exp: the last to expire go first")
    ]
    if left.ends and not left.direct:
        found.append(BufferChoice(BufferKind.TIMELINE, BufferContents.LEFT, "ends that may be taken back wait"))
    if right.ends:
        found.append(
            BufferChoice(BufferKind.TIMELINE, BufferContents.RIGHT, "tuples are counted by value; known ends wait")
        )
    else:
        found.append(BufferChoice(BufferKind.ARRAY, BufferContents.RIGHT, "tuples are counted by value"))
    return tuple(found)


def _group_by(node: GroupBy, input_: InputTraits) -> Choices:
    """A row per group, and what it takes to remove an expired tuple from its group."""
    aggregates = [a.aggregate for a in node.aggregates]
    found = []
    if input_.direct and not any(a.is_progressive for a in aggregates):
        found.append(
            BufferChoice(BufferKind.DELTA, BufferContents.RESULT, "a group is there as long as its last tuple")
        )
    elif input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, BufferContents.INPUT, EXPIRED_LEAVE_GROUP))
    if input_.dated or any(a.function in ("min", "max") for a in aggregates):
        found.append(_extremes(input_))
    if any(a.distinct and a.function not in ("min", "max") for a in aggregates):
        found += [
            BufferChoice(c.kind, BufferContents.ARGUMENTS, c.why)
            for c in distinct_buffers(replace(input_, dated=False))
        ]
    if any(a.user is not None for a in aggregates) and input_.direct and input_.ends:
        found.append(BufferChoice(BufferKind.TIMELINE, BufferContents.INPUT, EXPIRED_LEAVE_GROUP))
    if any(a.user is not None and not a.user.is_incremental for a in aggregates):
        found.append(
            BufferChoice(BufferKind.HASH, BufferContents.ARGUMENTS, "a user's function sees all values of a group")
        )
    return (
        *found,
        BufferChoice(BufferKind.ARRAY, BufferContents.RESULT, "a new value overwrites its group's last one"),
    )


def _extremes(input_: InputTraits) -> BufferChoice:
    if not input_.direct:
        return BufferChoice(BufferKind.HASH, BufferContents.INPUT, "any value of a group may become its best")
    holds = BufferContents.INPUT if input_.ends else BufferContents.RESULT
    return BufferChoice(BufferKind.STAIRCASE, holds, "a value that a better one outlives is never shown")


def _top_k(input_: InputTraits) -> BufferChoice:
    if not input_.direct:
        return BufferChoice(BufferKind.RANKED, BufferContents.INPUT, "any tuple may move up when better ones go")
    holds = BufferContents.INPUT if input_.ends else BufferContents.RESULT
    return BufferChoice(BufferKind.RANKED, holds, "the k-skyband: what k better ones outlive never shows")
