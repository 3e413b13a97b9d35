"""Delivers rows of the answer to Spark, or to a sink that takes them in the task that computes them.

Rows that a task gives to Spark are copied to the JVM and converted there value by value, which may cost more than the
query itself. A sink that takes rows in the tasks avoids that; Spark gets only a note about the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from thalweg.runtime.distributed.exchange.message import Answered, Message, MessageKind
from thalweg.runtime.spark.tasks.running_task import running_part

NOTE = "note"
NOTES = f"{NOTE} string"


class Take(Protocol):
    """A function that takes the rows of a task. It is sent to the workers, so it must be picklable.

    A task may be run again, or twice at once, for the same part of a batch; only the note of one attempt counts.
    """

    def __call__(self, rows: Iterable[pa.RecordBatch], batch: int, part: int) -> str:
        """A note by which the sink finds the rows; empty if there were none."""


def hand_over(rows: Iterable[pa.RecordBatch], take: Take | None, batch: int, part: int) -> Iterator[pa.RecordBatch]:
    """The rows themselves, or the note of the sink that took them."""
    if take is None:
        yield from rows
    else:
        yield _note(take(rows, batch, part))


def earlier_notes(received: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    """The sink's notes about rows that were answered in the tasks that read them."""
    for message in received:
        if message.kind is MessageKind.ANSWERED:
            yield _note(Answered.unpacked(message.blob).note)


def _note(note: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([note], pa.string())], names=[NOTE])


def notes_of(handed: DataFrame) -> list[str]:
    """Run the tasks, and return their notes."""
    return [row[NOTE] for row in handed.collect() if row[NOTE]]


def taken(changes: DataFrame, take: Take, batch: int) -> list[str]:
    """Let a sink take the rows of a DataFrame in its tasks, and return the notes."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from hand_over(batches, take, batch, running_part())

    return notes_of(changes.mapInArrow(task, NOTES))
