"""Tuples and table updates that wait for the clock (watermark), and the batches that they become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Lane, to_lane
from thalweg.core.rows import Row
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.pipeline import Pipeline


class SourceEvent(NamedTuple):
    """A tuple of a stream (sign 0), or a row that a table gains (+1) or loses (-1)."""

    t: Instant
    source: str
    sign: int
    row: Row


class Feeder:
    """Keeps events until the clock reaches them; events of one instant stay in their order of arrival."""

    def __init__(self, schemas: Mapping[str, Schema], pool: StringPool, dated: bool, start: Instant) -> None:
        """`schemas` of the sources that are fed, by name; others may follow."""
        self._schemas = schemas
        self.pool, self._dated, self._start = pool, dated, start
        self._waiting: list[SourceEvent] = []

    @staticmethod
    def of(pipeline: Pipeline, start: Instant) -> Feeder:
        """One that feeds a pipeline."""
        schemas = {node.source: node.schema for node in pipeline.nodes if node.operator is None}
        return Feeder(schemas, pipeline.pool, pipeline.dated, start)

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple; ignored if it came before the query began, or if the plan does not read its stream."""
        if ts >= self._start and stream in self._schemas:
            self._waiting.append(SourceEvent(ts, stream, 0, row))

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """An update; a row that the table had before the query began is new at its start."""
        if relation not in self._schemas:
            return
        self._waiting.append(SourceEvent(max(t, self._start), relation, sign, row))

    def __len__(self) -> int:
        return len(self._waiting)

    def forget_arrivals(self) -> None:
        """Drop the tuples that wait; updates of tables stay."""
        self._waiting = [event for event in self._waiting if event.sign]

    def due(self, now: Instant) -> list[SourceEvent]:
        """Take out the events up to and at `now`, in order of time."""
        self._waiting.sort(key=lambda event: event.t)
        due = [event for event in self._waiting if event.t <= now]
        self._waiting = self._waiting[len(due) :]
        return due

    def batches(self, events: Sequence[SourceEvent]) -> Mapping[str, Batch]:
        """A batch for each source that has events, by name."""
        by_source: defaultdict[str, list[SourceEvent]] = defaultdict(list)
        for event in events:
            by_source[event.source].append(event)
        return {source: self._batch(source, some) for source, some in by_source.items()}

    def _batch(self, source: str, events: Sequence[SourceEvent]) -> Batch:
        times = np.array([event.t for event in events], dtype=np.int64)
        lanes = self._lanes(source, [event.row for event in events])
        if not events[0].sign:
            return Batch.of_arrivals(lanes, times, self._dated)
        forever = np.full(len(times), FOREVER)
        signs = np.array([event.sign for event in events], dtype=np.int8)
        dates = Dates(np.full(len(times), BEGINNING), forever) if self._dated else None
        return Batch(lanes, times, forever, signs, dates)

    def _lanes(self, source: str, rows: Sequence[Row]) -> tuple[Lane, ...]:
        columns = zip(*rows, strict=True)
        return tuple(
            to_lane(pa.array(list(values), field.type.arrow), field.type, self.pool)
            for values, field in zip(columns, self._schemas[source], strict=True)
        )
