"""What a plan will do: update patterns of its results, buffers and bounds of its state, and plans that are refused."""

from thalweg.patterns.bounds import StateBound, bound, extent
from thalweg.patterns.buffer_kinds import (
    BufferChoice,
    BufferContents,
    BufferKind,
    buffer_for,
    distinct_side,
    side_buffer,
)
from thalweg.patterns.check import check
from thalweg.patterns.derive import Annotated, annotate, derive, propagate
from thalweg.patterns.expiration import has_orders, is_direct, prefers_orders
from thalweg.patterns.operator_buffers import buffers
from thalweg.patterns.pattern import Edge, Expiry, ExpiryOrder, Pattern

__all__ = [
    "Annotated", "BufferChoice", "BufferContents", "BufferKind", "Edge", "Expiry", "ExpiryOrder", "Pattern",
    "StateBound", "annotate", "bound", "buffer_for", "buffers", "check", "derive", "distinct_side", "extent",
    "has_orders", "is_direct", "prefers_orders", "propagate", "side_buffer",
]  # fmt: skip
