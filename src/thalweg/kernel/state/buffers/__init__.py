"""State buffers (U6): a layout for each update pattern."""

from thalweg.kernel.state.buffers.base import Buffer
from thalweg.kernel.state.buffers.group_array import GroupArray
from thalweg.kernel.state.buffers.partitioned import PartitionedBuffer
from thalweg.kernel.state.buffers.run_list import FifoBuffer, KeyedBuffer
from thalweg.kernel.state.buffers.sequential import SequentialBuffer

__all__ = ["Buffer", "FifoBuffer", "GroupArray", "KeyedBuffer", "PartitionedBuffer", "SequentialBuffer"]
