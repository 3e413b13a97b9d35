"""State buffers (U6): one file for each layout that an update pattern requires."""

from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.buffers.fifo import FifoBuffer
from thalweg.kernel.state.buffers.group_array import GroupArray
from thalweg.kernel.state.buffers.keyed import KeyedBuffer
from thalweg.kernel.state.buffers.partitioned import PartitionedBuffer
from thalweg.kernel.state.buffers.sequential import SequentialBuffer

__all__ = ["Buffer", "FifoBuffer", "GroupArray", "KeyedBuffer", "PartitionedBuffer", "SequentialBuffer"]
