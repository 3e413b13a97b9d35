"""Update patterns: how the results of each operator come and go."""

from thalweg.patterns.bounds import Bound, bound, extent
from thalweg.patterns.buffers import BufferChoice, BufferKind, Holds, buffer_for, distinct_side, side_buffer
from thalweg.patterns.check import check
from thalweg.patterns.derive import Annotated, annotate, derive, propagate
from thalweg.patterns.direct import is_direct
from thalweg.patterns.ordered import has_orders, prefers_orders
from thalweg.patterns.pattern import Edge, Expiry, Leaving, Pattern
from thalweg.patterns.stored import buffers

__all__ = [
    "Annotated", "Bound", "BufferChoice", "BufferKind", "Edge", "Expiry", "Holds", "Leaving", "Pattern", "annotate",
    "bound", "buffer_for", "buffers", "check", "derive", "distinct_side", "extent", "has_orders", "is_direct",
    "prefers_orders", "propagate", "side_buffer",
]  # fmt: skip
