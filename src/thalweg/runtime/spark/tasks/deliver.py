"""Rows that are taken where they are made: the task that computes them hands them over as Arrow, and tells of it.

Rows that a task gives to Spark are copied to the JVM and made rows there, one value at a time, which may cost more than
the query. A sink that can write from the tasks spares that; only a note about what was written comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Protocol

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from thalweg.runtime.distributed.exchange.message import DONE, Parcel

NOTE = "note"
NOTES = f"{NOTE} string"


class Take(Protocol):
    """Takes a task's rows; it goes to the workers, so it must be picklable.

    A task may be run again, or twice at once, for the same part of the same batch; only the note of one counts.
    """

    def __call__(self, rows: Iterable[pa.RecordBatch], batch: int, part: int) -> str:
        """A note by which what was taken is found; empty if there was nothing."""


def handed_over(rows: Iterable[pa.RecordBatch], take: Take | None, batch: int, part: int) -> Iterator[pa.RecordBatch]:
    """The rows themselves, or a note that they were taken."""
    if take is None:
        yield from rows
    else:
        yield _noted(take(rows, batch, part))


def already_taken(sent: Iterable[Parcel]) -> Iterator[pa.RecordBatch]:
    """The notes of tasks before this one."""
    for parcel in sent:
        if parcel.port == DONE:
            yield _noted(json.loads(bytes(parcel.blob))["note"])


def _noted(note: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([note], pa.string())], names=[NOTE])


def notes_of(handed: DataFrame) -> list[str]:
    """Run the tasks; what they have to say."""
    return [row[NOTE] for row in handed.collect() if row[NOTE]]


def taken(changes: DataFrame, take: Take, batch: int) -> list[str]:
    """The notes about rows that a DataFrame has already."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        yield from handed_over(batches, take, batch, context.partitionId())

    return notes_of(changes.mapInArrow(task, NOTES))
