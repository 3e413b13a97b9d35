"""The Spark task at work: which part of which micro-batch it is, when that was planned, and how its process is tuned.

This is the only file that asks Spark for the number and the time of a micro-batch. Spark gives a task the number, but
not the time. `current_timestamp()` is that time, but only as a column, which would have to come with every row. So the
time is read from Spark's log of offsets, which is in the checkpoint and gives the same time if the batch is run again.
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
_FIRST_TASKS = 3  # by then a process has imported what its tasks need
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
            "the changes of a query were asked for outside of its micro-batches",
            hint="give the query a sink, or read what its sink has written",
        )
    return RunningTask(context.partitionId(), int(batch))


def running_part() -> int:
    """The number of the partition that this process works on, in a micro-batch or outside of one."""
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
    """The same for rows that are made in the JVM."""
    return sf.unix_micros(sf.current_timestamp())


def tune_process() -> None:
    """In the first tasks of a process, keep freed memory and spare Python's garbage collector all that is there.

    Between two tasks Spark's workers go through all objects for garbage, a task waits meanwhile, and nearly all of them
    are modules that stay for good: tens of milliseconds, several times what a small task itself takes. A task has one
    core, so Arrow gets one thread.
    """
    global _tasks
    if _tasks < _FIRST_TASKS:
        _tasks += 1
        keep_freed()
        pa.set_cpu_count(1)
        gc.collect()
        gc.freeze()
