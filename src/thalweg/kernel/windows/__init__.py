"""Windows as operators: from the tuples of a stream to signed intervals."""

from __future__ import annotations

from typing import assert_never

from thalweg.algebra.windows import LogicalWindow, PartitionedRows, Rows, ValueRange, Window
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operator import Operator
from thalweg.kernel.windows.count_windows import PartitionedWindow, RowsWindow
from thalweg.kernel.windows.derived_stream import DerivedStreamWindow
from thalweg.kernel.windows.logical import LogicalWindowing
from thalweg.kernel.windows.physical import AnyWindow, BaseStreamWindow
from thalweg.kernel.windows.value import ValueWindow


def make_window(window: Window, schema: Schema, pool: StringPool, dated: bool, derived: bool) -> Operator:
    """The operator of `window` over a stream of `schema`, which is a base stream or `derived` from a relation."""
    physical: AnyWindow
    match window:
        case LogicalWindow():
            return LogicalWindowing(window, schema, dated)
        case Rows():
            physical = RowsWindow(window, schema, dated)
        case PartitionedRows():
            physical = PartitionedWindow(window, schema, dated)
        case ValueRange():
            physical = ValueWindow(window, schema, dated)
        case _:
            assert_never(window)
    return DerivedStreamWindow(physical, schema, pool, dated) if derived else BaseStreamWindow(physical)


__all__ = ["make_window"]
