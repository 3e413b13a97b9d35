"""Windows: the part of a stream that a query sees at each instant.

`Window` is the closed union of all kinds, so that mypy can prove a `match` over them complete.
"""

from thalweg.algebra.windows.base import BaseWindow, LogicalWindow, Scope
from thalweg.algebra.windows.landmark import Landmark, Unbounded
from thalweg.algebra.windows.partitioned import PartitionedRows
from thalweg.algebra.windows.rows import Rows
from thalweg.algebra.windows.sliding import Now, Range
from thalweg.algebra.windows.value import ValueRange

__all__ = [
    "BaseWindow", "Landmark", "LogicalWindow", "Now", "PartitionedRows", "Range", "Rows", "Scope", "Unbounded",
    "ValueRange", "Window",
]  # fmt: skip

Window = Now | Range | Landmark | Unbounded | Rows | PartitionedRows | ValueRange
