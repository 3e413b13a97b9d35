"""The state buffers of joins, made as their update patterns and the settings require."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.errors import PlanError
from thalweg.core.time import LONGEST
from thalweg.kernel.state.buffers import Buffer, FifoBuffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.patterns import BufferKind, Edge, side_buffer


@dataclass(frozen=True)
class BufferSettings:
    """Settings of the buffers of joins; no answer depends on them.

    `partitions` is the number of partitions that a lifetime spans in a partitioned buffer; in other buffers a merged
    run holds at most 1 / `partitions` of the tuples. `lazy` is the expiration interval in ticks (0: in every batch).
    `layout` is one layout for all buffers; None: the update pattern decides. `most_results` is how many results of a
    join may exist at a time.
    """

    partitions: int = 10
    lazy: int = 0
    layout: BufferKind | None = None
    tuning: Tuning = DEFAULT
    most_results: int = LONGEST


def make_buffer(kind: BufferKind, settings: BufferSettings) -> Buffer:
    """An empty buffer of the given kind, or of the layout that is set for all buffers."""
    match settings.layout or kind:
        case BufferKind.LOG | BufferKind.FIFO:
            return FifoBuffer(settings.partitions, settings.lazy, settings.tuning)
        case BufferKind.PARTITIONS:
            return PartitionedBuffer(settings.partitions, settings.lazy, settings.tuning)
        case BufferKind.HASH:
            return KeyedBuffer(settings.partitions, settings.lazy, settings.tuning)
        case BufferKind.SEQUENCE:
            return SequentialBuffer(settings.lazy)
        case other:
            raise PlanError(f"a join cannot keep its input in a buffer of kind {other.value!r}")


def join_buffers(left: Edge, right: Edge, settings: BufferSettings) -> tuple[Buffer, Buffer]:
    """The buffers of a join, given the update patterns of its inputs."""
    return make_buffer(side_buffer(left).kind, settings), make_buffer(side_buffer(right).kind, settings)
