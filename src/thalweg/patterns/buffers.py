"""Which state buffer holds what (U5, U6, W6): the choice of strategy "auto", from the labels alone.

`BY_EXPIRY` is the one table from an edge's expiry, and the order in which its tuples leave, to a buffer. Windows store
nothing: they stamp each tuple with its end, and the operators above keep the tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    Negation,
    NrrJoin,
    Plan,
    RStream,
    SemiJoin,
    TopK,
)
from thalweg.patterns.pattern import Edge, Expiry, Leaving


class BufferKind(Enum):
    """How a state buffer is laid out; the value is what EXPLAIN says."""

    LOG = "append log"
    FIFO = "FIFO list"
    PARTITIONS = "partitions by exp"
    ORDER_INDEX = "expiration-order index"
    QUEUES = "queue per partition"
    CATALOGUES = "two-catalogue order index"
    ARRAY = "array by group"
    HASH = "hash on key"
    DELTA = "delta*"


class Holds(Enum):
    """What of an operator a buffer keeps."""

    LEFT = "left input"
    RIGHT = "right input"
    INPUT = "input"
    RESULT = "result"
    DUPLICATES = "result and last duplicates"
    ARGUMENTS = "distinct arguments"
    BEFORE = "previous answer"


@dataclass(frozen=True)
class BufferChoice:
    """One buffer of an operator: its layout, its contents and the reason."""

    kind: BufferKind
    holds: Holds
    why: str


_LOG = (BufferKind.LOG, "nothing ever leaves")
_HASH = (BufferKind.HASH, "negative tuples are found by key")
_ARRAY = (BufferKind.ARRAY, "a new value overwrites its group's last one")
_FIFO = (BufferKind.FIFO, "tuples leave as they came, from the front")

BY_EXPIRY: dict[tuple[Expiry, Leaving], tuple[BufferKind, str]] = {
    (Expiry.NEVER, Leaving.FIFO): _LOG,
    (Expiry.TIME, Leaving.FIFO): _FIFO,
    (Expiry.TIME, Leaving.TOTAL): (BufferKind.PARTITIONS, "exp is known but not in order of arrival"),
    (Expiry.ORDER, Leaving.FIFO): _FIFO,
    (Expiry.ORDER, Leaving.TOTAL): (BufferKind.ORDER_INDEX, "the order of expiration is known, its time is not"),
    (Expiry.ORDER, Leaving.PER_KEY): (BufferKind.QUEUES, "tuples leave in order within a partitioning key only"),
    (Expiry.ORDER, Leaving.PER_SIDE): (BufferKind.CATALOGUES, "each tuple carries the orders of both sides"),
    (Expiry.REPLACEMENT, Leaving.UNKNOWN): _ARRAY,
    (Expiry.NEGATIVE, Leaving.UNKNOWN): _HASH,
}


def buffer_for(edge: Edge, holds: Holds) -> BufferChoice:
    """The buffer for tuples that come and go as `edge` says; also that of a query's own answer."""
    kind, why = BY_EXPIRY[edge.expiry, edge.leaving]
    return BufferChoice(kind, holds, why)


def buffers(node: Plan, inputs: Sequence[Edge], output: Edge) -> tuple[BufferChoice, ...]:
    """Every buffer that the operator needs, given the labels of its inputs and of its output."""
    match node:
        case NrrJoin():  # the left side is not stored: updates of the NRR never look back at it
            return (BufferChoice(BufferKind.HASH, Holds.RIGHT, "tuples of the left side probe the NRR and pass on"),)
        case Join() | SemiJoin() | Intersect() | Negation():
            sides = (buffer_for(inputs[0], Holds.LEFT), buffer_for(inputs[1], Holds.RIGHT))
            # No instant ends such a result, so the operator itself must find those that a leaving tuple takes along.
            return (*sides, buffer_for(output, Holds.RESULT)) if output.expiry is Expiry.ORDER else sides
        case Distinct():
            return _distinct(inputs[0], output)
        case GroupBy():
            return _group_by(node, inputs[0], output)
        case TopK() if inputs[0].expiry is Expiry.NEVER:  # what falls out never comes back
            return (buffer_for(output, Holds.RESULT),)
        case TopK():
            return (buffer_for(inputs[0], Holds.INPUT), buffer_for(output, Holds.RESULT))
        case RStream():
            return (buffer_for(inputs[0], Holds.BEFORE),)
        case IStream() | DStream() if inputs[0].expiry not in (Expiry.NEVER, Expiry.NEGATIVE):
            return (buffer_for(inputs[0], Holds.BEFORE),)
    # Scans, windows, selections, projections and unions; ISTREAM and DSTREAM whose input says every change by itself.
    return ()


def _distinct(edge: Edge, output: Edge) -> tuple[BufferChoice, ...]:
    """delta* needs to know which of two equal tuples leaves last; else input and result are both kept."""
    if edge.expiry is Expiry.NEVER:
        return (buffer_for(output, Holds.RESULT),)
    if edge.leaving <= Leaving.TOTAL:
        why = "no early deletions: the shown tuple and the last to expire of each value suffice"
        return (BufferChoice(BufferKind.DELTA, Holds.DUPLICATES, why),)
    return (buffer_for(edge, Holds.INPUT), buffer_for(output, Holds.RESULT))


def _group_by(node: GroupBy, edge: Edge, output: Edge) -> tuple[BufferChoice, ...]:
    """A tuple that leaves must be taken out of its group, so all but monotonic inputs are kept."""
    result = buffer_for(output, Holds.RESULT)
    if edge.expiry is not Expiry.NEVER:
        return (buffer_for(edge, Holds.INPUT), result)
    if any(a.aggregate.keeps_arguments for a in node.aggregates):
        return (buffer_for(edge, Holds.ARGUMENTS), result)
    return (result,)
