"""Starts Spark's streaming query of a query or a flow: sinks are opened, and each batch is written to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from thalweg.algebra.plan import Plan
from thalweg.runtime.distributed.checkpoint.files import not_written
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.lease import HeldLease, take
from thalweg.runtime.spark.compile.stage_frames import Compiled
from thalweg.runtime.spark.sinks import ParquetSink, Retry, Sink, SinkContext, Sinks
from thalweg.runtime.spark.sinks.retry import Retries

AfterBatch = Callable[[int], None]  # called with the number of a batch when it has been written

_AS_SOON_AS_POSSIBLE = {"processingTime": "0 seconds"}


def sinks_for(
    given: Sink | Sequence[Sink] | None, checkpoint: Checkpoint, schema: StructType, retry: Retry | None = None
) -> Sinks:
    """The sinks that a user has given; without any, Parquet files in the checkpoint."""
    sinks = [given] if isinstance(given, Sink) else [*(given or [])]
    return Sinks(sinks or [ParquetSink(checkpoint.answers)], schema, Retries(retry or Retry()))


def start_stream(
    compiled: Compiled,
    sinks: Sinks,
    checkpoint: Checkpoint,
    lease: HeldLease,
    *,
    plan: Plan | None = None,
    name: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    after_batch: AfterBatch | None = None,
) -> StreamingQuery:
    """Start Spark's streaming query. A flow has no `plan`: its sinks get the changes of many queries, packed.

    The lease is renewed for as long as Spark's query runs.
    """
    sinks.open(SinkContext(plan, compiled.spec.stamped, checkpoint))
    write = _writing(sinks, checkpoint, lease, len(compiled.spec.stages), after_batch)
    writer = compiled.frame.writeStream.foreachBatch(write).option("checkpointLocation", str(checkpoint.spark))
    writer = writer.outputMode("append").trigger(**(trigger or _AS_SOON_AS_POSSIBLE))
    query = (writer.queryName(name) if name else writer).start()
    lease.keep(lambda: bool(query.isActive))
    return query


@contextmanager
def leased(checkpoint: Checkpoint, take_over: bool) -> Iterator[HeldLease]:
    """Take the lease of a checkpoint for a start; if the start fails, the lease is released."""
    _check_writable(checkpoint)
    lease = take(checkpoint.folder, take_over)
    try:
        yield lease
    except BaseException:
        lease.release()
        raise


def _check_writable(checkpoint: Checkpoint) -> None:
    """Raise if the checkpoint's folder cannot be written to: Spark would say so in a trace of Java's, or much later."""
    probe = checkpoint.folder / f".probe-{uuid4().hex}"
    try:
        checkpoint.folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise not_written(checkpoint.folder, error) from None


def _writing(
    sink: Sink, checkpoint: Checkpoint, lease: HeldLease, stages: int, after_batch: AfterBatch | None
) -> Callable[[DataFrame, int], None]:
    """The function for `foreachBatch`: the sink's `write`, then the steps of shards that the sink did not run.

    Spark runs only what is asked for: a sink that begins with `changes.isEmpty()`, and then has nothing to write, lets
    a single shard run its step. The next batch would miss the state of the others.
    """

    def write(handed: DataFrame, batch: int) -> None:
        lease.check()
        sink.write(handed, batch)
        if not checkpoint.has_done(batch, stages - 1):
            handed.write.format("noop").mode("overwrite").save()
        if after_batch is not None:
            after_batch(batch)

    return write
