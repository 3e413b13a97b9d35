"""State buffers (U6): one file for each layout that an update pattern calls for."""

from thalweg.state.buffers.base import Buffer
from thalweg.state.buffers.fifo import FifoBuffer
from thalweg.state.buffers.group_array import GroupArray
from thalweg.state.buffers.keyed import KeyedBuffer
from thalweg.state.buffers.partitioned import PartitionedBuffer
from thalweg.state.buffers.sequential import SequentialBuffer

__all__ = ["Buffer", "FifoBuffer", "GroupArray", "KeyedBuffer", "PartitionedBuffer", "SequentialBuffer"]
