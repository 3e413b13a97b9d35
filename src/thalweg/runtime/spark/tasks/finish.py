"""A micro-batch is done when every shard has done it, whatever its sink has looked at."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.query_spec import QuerySpec
from thalweg.runtime.spark.sinks import Sink


def finishing(sink: Sink, checkpoint: Checkpoint, spec: QuerySpec | FlowSpec) -> Callable[[DataFrame, int], None]:
    """The sink's `write`, then the turns of shards that it did not ask for.

    Spark runs only what is asked for: a sink that begins with `changes.isEmpty()`, and then has nothing to write, lets
    a single shard take its turn. The next batch would miss the state of the others.
    """

    def write(handed: DataFrame, batch: int) -> None:
        sink.write(handed, batch)
        if not checkpoint.has_done(batch, spec.stages - 1):
            handed.write.format("noop").mode("overwrite").save()

    return write
