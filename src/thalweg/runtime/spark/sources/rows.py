"""Streams of which any range of rows can be read at any time: the offset is a row number.

A micro-batch is a range of rows, so a batch that runs again reads the same rows. With a speed, a row is due when its
own time has passed; without one, each batch takes as many rows as it may. Only the ranges pass through Spark: see
`arrow`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from thalweg.core.errors import DataError

RANGE_COLUMNS = "first LONG, end LONG"  # the schema of ranges, as Spark writes it
ROWS_WORTH_A_TASK = 1_000  # with fewer rows the start of a task costs more than its work

Speed = float | Literal["max"]


class RangeLoad(ABC):
    """Loads the rows of ranges: the `Load` of a stream of numbered rows."""

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """The rows of all ranges, with these columns."""
        ranges = zip(*(described.column(name).to_pylist() for name in ("first", "end")), strict=True)
        return pa.concat_tables([self.rows(first, end, columns) for first, end in ranges])

    @abstractmethod
    def rows(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        """Rows `first` to `end` (exclusive) with these columns, in the types of `to_arrow`."""


class NumberedRows(InputPartition):
    """Rows `first` to `end` (exclusive) of the stream, for one task."""

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end


@dataclass(frozen=True)
class Pace:
    """How fast rows come, and how they are divided.

    The stream has `rows` rows (None: it never ends); a batch has at most `rows_per_batch`, in at most `partitions`
    tasks. `speed` is how many seconds of the rows' own time pass in one second ("max": as fast as possible).
    """

    rows: int | None
    rows_per_batch: int
    partitions: int
    speed: Speed

    def __post_init__(self) -> None:
        for name in ("rows_per_batch", "partitions"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} wants 1 or more, got {getattr(self, name)}")
        if self.rows is not None and self.rows < 0:
            raise DataError(f"rows wants 0 or more, got {self.rows}")
        if self.speed != "max" and not (isinstance(self.speed, int | float) and self.speed > 0):
            raise DataError(f"speed wants a number above 0, or 'max'; got {self.speed!r}")


class RowReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Assigns ranges of rows to batches and tasks; subclasses say which rows are due."""

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._origin: tuple[float, int] | None = None
        self._at_once = False
        self._last: int | None = None

    @abstractmethod
    def due(self, first: int, seconds: float) -> int:
        """The number of the row that is due `seconds` of event time after row `first`."""

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name, like those below
        """The number of the first row."""
        return {"row": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """At most `rows_per_batch` rows."""
        return ReadMaxRows(self.pace.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Ignore the speed: offer all rows of a stream that ends, and one batch of a stream that does not."""
        self._at_once = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the next batch."""
        first = int(start["row"])
        end = self._available(first)
        if isinstance(limit, ReadMaxRows):
            end = min(end, first + limit.max_rows)
        return {"row": max(first, end)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Ranges of about equal length."""
        first, rows = int(start["row"]), int(end["row"]) - int(start["row"])
        parts = min(self.pace.partitions, -(-rows // ROWS_WORTH_A_TASK))
        bounds = [first + rows * i // max(parts, 1) for i in range(parts + 1)]
        return [NumberedRows(i, j) for i, j in pairwise(bounds)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The range, as a row of RANGE_COLUMNS."""
        assert isinstance(partition, NumberedRows)
        yield pa.record_batch({"first": [partition.first], "end": [partition.end]})

    def _available(self, first: int) -> int:
        if self.pace.speed != "max" and not self._at_once:
            return self._due(first, self.pace.speed)
        if self.pace.rows is not None:
            return self.pace.rows
        if not self._at_once:
            return first + self.pace.rows_per_batch
        if self._last is None:
            self._last = first + self.pace.rows_per_batch
        return self._last

    def _due(self, first: int, speed: float) -> int:
        if self._origin is None:  # after a restart, event time goes on from the last offset
            self._origin = (self.clock(), first)
        began, origin = self._origin
        due = self.due(origin, (self.clock() - began) * speed)
        return due if self.pace.rows is None else min(due, self.pace.rows)
