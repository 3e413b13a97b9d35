"""Windows: what part of a stream a query sees at each instant. One file per kind; each can be drawn."""

from thalweg.algebra.windows.base import LogicalWindow, Scope, Window
from thalweg.algebra.windows.landmark import Landmark
from thalweg.algebra.windows.now import Now
from thalweg.algebra.windows.partitioned import PartitionedRows
from thalweg.algebra.windows.rows import Rows
from thalweg.algebra.windows.sliding import Range
from thalweg.algebra.windows.unbounded import Unbounded
from thalweg.algebra.windows.value import ValueRange

__all__ = [
    "Landmark", "LogicalWindow", "Now", "PartitionedRows", "Range", "Rows", "Scope", "Unbounded", "ValueRange",
    "Window",
]  # fmt: skip
