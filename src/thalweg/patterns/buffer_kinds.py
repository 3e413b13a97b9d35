"""The kinds of state buffers (U5, U6, W6), and which kind suits an edge.

`BY_EXPIRY` is the one table from an edge's expiry and order of expiry to a kind of buffer. docs/architecture.md, "State
buffers", says which file of the kernel implements each kind, and which operators use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from thalweg.patterns.pattern import Edge, Expiry, ExpiryOrder


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
    SEQUENCE = "sequence"
    DELTA = "delta*"
    TIMELINE = "timeline"
    STAIRCASE = "staircase"
    RANKED = "ranked list"


class BufferContents(Enum):
    """What a buffer of an operator contains."""

    LEFT = "left input"
    RIGHT = "right input"
    EACH = "one of the inputs"
    PARTNERS = "distinct partners"
    INPUT = "input"
    WINDOW = "window"
    WAITING = "tuples of a slide"
    RESULT = "result"
    DUPLICATES = "result and last duplicates"
    ARGUMENTS = "distinct arguments"
    BEFORE = "previous answer"


@dataclass(frozen=True)
class BufferChoice:
    """One buffer of an operator: its layout, its contents and the reason."""

    kind: BufferKind
    holds: BufferContents
    why: str


_LOG = (BufferKind.LOG, "nothing ever leaves")
_HASH = (BufferKind.HASH, "negative tuples are found by key")
_ARRAY = (BufferKind.ARRAY, "a new value overwrites its group's last one")
_FIFO = (BufferKind.FIFO, "tuples leave as they came, from the front")
_PARTITIONS = (BufferKind.PARTITIONS, "exp is known but not in order of arrival")

BY_EXPIRY: dict[tuple[Expiry, ExpiryOrder], tuple[BufferKind, str]] = {
    (Expiry.NEVER, ExpiryOrder.FIFO): _LOG,
    (Expiry.TIME, ExpiryOrder.FIFO): _FIFO,
    (Expiry.TIME, ExpiryOrder.TOTAL): _PARTITIONS,
    (Expiry.ORDER, ExpiryOrder.FIFO): _FIFO,
    (Expiry.ORDER, ExpiryOrder.TOTAL): (BufferKind.ORDER_INDEX, "the order of expiration is known, its time is not"),
    (Expiry.ORDER, ExpiryOrder.PER_KEY): (BufferKind.QUEUES, "tuples leave in order within a partitioning key only"),
    (Expiry.ORDER, ExpiryOrder.PER_SIDE): (BufferKind.CATALOGUES, "each tuple carries the orders of both sides"),
    (Expiry.REPLACEMENT, ExpiryOrder.UNKNOWN): _ARRAY,
    (Expiry.NEGATIVE, ExpiryOrder.UNKNOWN): _HASH,
}


def buffer_for(edge: Edge, holds: BufferContents) -> BufferChoice:
    """The buffer that suits the tuples of an edge: for example, for a view of a query's answer."""
    kind, why = BY_EXPIRY[edge.expiry, edge.expiry_order]
    return BufferChoice(kind, holds, why)


def side_buffer(edge: Edge, holds: BufferContents = BufferContents.LEFT) -> BufferChoice:
    """The buffer of a join's side in strategy "auto": tuples expire by time or by negative tuples, not by order."""
    by_time = edge.expiry in (Expiry.NEVER, Expiry.TIME)
    return buffer_for(edge, holds) if by_time else BufferChoice(_HASH[0], holds, _HASH[1])


def distinct_side(by_delta_star: bool) -> BufferKind:
    """The buffer for the distinct rows of a join's side; delta* gives them with known dates of expiry."""
    return (_PARTITIONS if by_delta_star else _HASH)[0]


def distinct_side_buffer(by_delta_star: bool) -> BufferChoice:
    """The buffer of `distinct_side`, with its contents and the reason."""
    kind, why = _PARTITIONS if by_delta_star else _HASH
    return BufferChoice(kind, BufferContents.PARTNERS, why)
