"""The running Spark task: its partition and micro-batch, when the batch was planned, and the tuning of its process.

This is the only file that asks Spark for the number and the time of a micro-batch. Spark gives a task the number, but
not the time, so the time is read from Spark's log of offsets, which is part of the checkpoint (decision 0033).
"""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column
from pyspark.sql import functions as sf

from thalweg.core.errors import CheckpointError, DataError
from thalweg.core.memory import keep_freed
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint

_BATCH_ID = "streaming.sql.batchId"  # a local property that Spark sets for the tasks of a micro-batch
_TUNED_TASKS = 3  # after these a process has imported all modules that its tasks need
_tasks = 0


class RunningTask(NamedTuple):
    """A task of a micro-batch."""

    part: int  # the number of its partition; in a stage, the shard
    batch: int


def running_task() -> RunningTask:
    """The task that this process runs now."""
    context = TaskContext.get()
    batch = None if context is None else context.getLocalProperty(_BATCH_ID)
    if context is None or batch is None:
        raise DataError(
            "the changes of a query can only be read in its micro-batches",
            hint="give the query a sink, and read what the sink has written",
        )
    return RunningTask(context.partitionId(), int(batch))


def running_part() -> int:
    """The partition of the running task, in a micro-batch or in an ordinary job."""
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def batch_time(checkpoint: str, batch: int) -> int:
    """When Spark planned a micro-batch, in microseconds."""
    path = Checkpoint(Path(checkpoint)).offsets(batch)
    try:
        return int(json.loads(path.read_text().splitlines()[1])["batchTimestampMs"]) * 1000
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise CheckpointError(
            f"{path} does not say when batch {batch} was planned: {error}",
            hint="the checkpoint's folder must be the one that Spark writes to, and be reachable by all workers",
        ) from error


def batch_time_column() -> Column:
    """The same time as a column, for rows that are made in the JVM."""
    return sf.unix_micros(sf.current_timestamp())


def tune_process() -> None:
    """In the first tasks of a process, keep freed memory, and exempt existing objects from garbage collection.

    Spark's workers collect garbage between two tasks, and the next task waits. Nearly all objects belong to modules,
    which stay for good, but to visit them takes tens of milliseconds: several times as long as a small task. A task has
    one core, so Arrow gets one thread.
    """
    global _tasks
    if _tasks < _TUNED_TASKS:
        _tasks += 1
        keep_freed()
        pa.set_cpu_count(1)
        gc.collect()
        gc.freeze()
