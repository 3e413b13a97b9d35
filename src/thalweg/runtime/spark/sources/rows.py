"""Streams of which any range of rows can be read at any time: the offset is a row's number.

A micro-batch is a range, so that one which is run again reads the same rows. At a speed, rows come due as their own
time passes; otherwise as many come as a batch may hold. Through Spark go the ranges alone; see `arrow`.
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

DESCRIBED = "first LONG, end LONG"

Speed = float | Literal["max"]


class RangeLoad(ABC):
    """Makes rows from ranges: the `Load` of such a stream."""

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows of all ranges."""
        ranges = zip(*(described.column(name).to_pylist() for name in ("first", "end")), strict=True)
        return pa.concat_tables([self.rows(first, end, columns) for first, end in ranges])

    @abstractmethod
    def rows(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of rows `first` to `end`, in the types of `to_arrow`."""


class NumberedRows(InputPartition):
    """Rows `first` to `end` of the stream."""

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end


@dataclass(frozen=True)
class Pace:
    """How rows are dealt out.

    `rows` is where the stream ends (None: never), `rows_per_batch` and `partitions` cut it up, and `speed` is how many
    seconds of the rows' own time pass in one second ("max": as fast as it goes).
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
    """Deals out ranges of rows; when they are due is for subclasses to say."""

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._origin: tuple[float, int] | None = None
        self._at_once = False
        self._last: int | None = None

    @abstractmethod
    def due(self, first: int, seconds: float) -> int:
        """Up to which row the stream has come when `seconds` of its own time have passed since row `first`."""

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name, like those below
        """Before the first row."""
        return {"row": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """As many rows as a batch may hold."""
        return ReadMaxRows(self.pace.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """All rows are there at once if the stream ends, else those of one batch: speed means nothing then."""
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
        parts = min(self.pace.partitions, -(-rows // 1_000))  # a task for a handful of rows is not worth its start
        bounds = [first + rows * i // max(parts, 1) for i in range(parts + 1)]
        return [NumberedRows(i, j) for i, j in pairwise(bounds)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The range, as a row of DESCRIBED."""
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
        if self._origin is None:  # after a restart time goes on from where it stood
            self._origin = (self.clock(), first)
        began, origin = self._origin
        due = self.due(origin, (self.clock() - began) * speed)
        return due if self.pace.rows is None else min(due, self.pace.rows)
