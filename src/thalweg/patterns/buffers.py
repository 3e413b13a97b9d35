"""The kinds of state buffers (U5, U6, W6), and which one tuples call for by the way they come and go.

`BY_EXPIRY` is the one table from an edge's expiry, and the order in which its tuples leave, to a buffer. Which file of
the kernel each kind is, and who uses it, is in docs/architecture.md, "State buffers".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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
    SEQUENCE = "sequence"
    DELTA = "delta*"
    TIMELINE = "timeline"
    STAIRCASE = "staircase"
    RANKED = "ranked list"


class Holds(Enum):
    """What of an operator a buffer keeps."""

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
    holds: Holds
    why: str


_LOG = (BufferKind.LOG, "nothing ever leaves")
_HASH = (BufferKind.HASH, "negative tuples are found by key")
_ARRAY = (BufferKind.ARRAY, "a new value overwrites its group's last one")
_FIFO = (BufferKind.FIFO, "tuples leave as they came, from the front")
_PARTITIONS = (BufferKind.PARTITIONS, "exp is known but not in order of arrival")

BY_EXPIRY: dict[tuple[Expiry, Leaving], tuple[BufferKind, str]] = {
    (Expiry.NEVER, Leaving.FIFO): _LOG,
    (Expiry.TIME, Leaving.FIFO): _FIFO,
    (Expiry.TIME, Leaving.TOTAL): _PARTITIONS,
    (Expiry.ORDER, Leaving.FIFO): _FIFO,
    (Expiry.ORDER, Leaving.TOTAL): (BufferKind.ORDER_INDEX, "the order of expiration is known, its time is not"),
    (Expiry.ORDER, Leaving.PER_KEY): (BufferKind.QUEUES, "tuples leave in order within a partitioning key only"),
    (Expiry.ORDER, Leaving.PER_SIDE): (BufferKind.CATALOGUES, "each tuple carries the orders of both sides"),
    (Expiry.REPLACEMENT, Leaving.UNKNOWN): _ARRAY,
    (Expiry.NEGATIVE, Leaving.UNKNOWN): _HASH,
}


def buffer_for(edge: Edge, holds: Holds) -> BufferChoice:
    """What tuples that come and go as `edge` says call for: a view of a query's answer, say."""
    kind, why = BY_EXPIRY[edge.expiry, edge.leaving]
    return BufferChoice(kind, holds, why)


def side_buffer(edge: Edge, holds: Holds = Holds.LEFT) -> BufferChoice:
    """The buffer of a join's side in strategy "auto": what time does not end, negative tuples do."""
    by_time = edge.expiry in (Expiry.NEVER, Expiry.TIME)
    return buffer_for(edge, holds) if by_time else BufferChoice(_HASH[0], holds, _HASH[1])


def distinct_side(small: bool) -> BufferKind:
    """How a join keeps the distinct rows that it is composed with: `small` if delta* gives them, with known ends."""
    return (_PARTITIONS if small else _HASH)[0]


def distinct_side_buffer(small: bool) -> BufferChoice:
    """The same with its contents and reason."""
    return BufferChoice(distinct_side(small), Holds.PARTNERS, (_PARTITIONS if small else _HASH)[1])
