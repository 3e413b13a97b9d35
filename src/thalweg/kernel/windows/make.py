"""Which operator runs which window."""

from __future__ import annotations

from thalweg.algebra.windows import LogicalWindow, PartitionedRows, Rows, ValueRange, Window
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operator import Operator
from thalweg.kernel.windows.logical import LogicalWindowing
from thalweg.kernel.windows.partitioned import PartitionedSteps
from thalweg.kernel.windows.redo import Redoing
from thalweg.kernel.windows.rows import RowsSteps
from thalweg.kernel.windows.steps import AnySteps, Stepping
from thalweg.kernel.windows.value import ValueSteps


def make_window(window: Window, schema: Schema, pool: StringPool, dated: bool, derived: bool) -> Operator:
    """The operator of `window` over a stream of `schema`; the stream is `derived` if it is no base stream."""
    if isinstance(window, LogicalWindow):
        return LogicalWindowing(window, schema, dated)
    steps = _steps(window, schema, dated)
    return Redoing(steps, schema, pool, dated) if derived else Stepping(steps)


def _steps(window: Window, schema: Schema, dated: bool) -> AnySteps:
    match window:
        case Rows():
            return RowsSteps(window, schema, dated)
        case PartitionedRows():
            return PartitionedSteps(window, schema, dated)
        case ValueRange():
            return ValueSteps(window, schema, dated)
        case _:
            raise PlanError(f"no operator runs the window {type(window).__name__}")
