"""Update patterns: how the results of each operator come and go."""

from thalweg.patterns.bounds import Bound, bound, extent
from thalweg.patterns.buffers import BufferChoice, BufferKind, Holds, buffer_for, buffers
from thalweg.patterns.check import check
from thalweg.patterns.derive import Annotated, annotate, derive, propagate
from thalweg.patterns.pattern import Edge, Expiry, Leaving, Pattern

__all__ = [
    "Annotated", "Bound", "BufferChoice", "BufferKind", "Edge", "Expiry", "Holds", "Leaving", "Pattern", "annotate",
    "bound", "buffer_for", "buffers", "check", "derive", "extent", "propagate",
]  # fmt: skip
