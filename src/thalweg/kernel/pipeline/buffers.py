"""From the layout that an update pattern calls for to a state buffer."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.errors import PlanError
from thalweg.kernel.state.buffers import Buffer, FifoBuffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.patterns import BufferKind, Edge, side_buffer


@dataclass(frozen=True)
class BufferSettings:
    """What can be set about joins' buffers; no answer depends on it.

    `partitions` is how many a lifetime spans in a partitioned buffer, and how finely the others are cut; `lazy` the
    expiration interval in ticks (0: with every batch); `layout` one layout for all sides, instead of by pattern.
    """

    partitions: int = 10
    lazy: int = 0
    layout: BufferKind | None = None


def make_buffer(kind: BufferKind, settings: BufferSettings) -> Buffer:
    """An empty buffer of the kind, or of the one layout that is set for all."""
    match settings.layout or kind:
        case BufferKind.LOG | BufferKind.FIFO:
            return FifoBuffer(settings.partitions, settings.lazy)
        case BufferKind.PARTITIONS:
            return PartitionedBuffer(settings.partitions, settings.lazy)
        case BufferKind.HASH:
            return KeyedBuffer(settings.partitions, settings.lazy)
        case BufferKind.SEQUENCE:
            return SequentialBuffer(settings.lazy)
        case other:
            raise PlanError(f"the side of a join cannot be kept as {other.value}")


def join_buffers(left: Edge, right: Edge, settings: BufferSettings) -> tuple[Buffer, Buffer]:
    """The buffers of a join whose inputs come and go as the edges say."""
    return make_buffer(side_buffer(left).kind, settings), make_buffer(side_buffer(right).kind, settings)
