"""A flow at work on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.spark.api.run import Run
from thalweg.runtime.spark.sinks import Sink
from thalweg.runtime.spark.tasks.answer_rows import answer_type
from thalweg.runtime.spark.tasks.flow_answers import PACKED_ANSWERS, QUERIES, unpacking


class FlowRun(Run):
    """Made by `SparkFlow.start`: time, waiting, metrics and stopping are those of a query."""

    def __init__(
        self, spark: SparkSession, query: StreamingQuery, checkpoint: Checkpoint, spec: FlowSpec, sinks: Sequence[Sink]
    ) -> None:
        super().__init__(spark, query, checkpoint, spec, sinks)
        self.functions = spec.functions  # of users, that its tasks know

    @property
    def is_active(self) -> bool:
        """Whether Spark has a batch at work or waits for the next."""
        return bool(self.query.isActive)

    def of(self, query: str, schema: Schema) -> OneOfFlow:
        """The answers of one query."""
        return OneOfFlow(self, query, schema)

    def reports(self) -> list[ShardReport]:
        """The shards' reports after the last batch that is done."""
        return self._reports(0)

    def gained(self) -> DataFrame:
        """All that answers have gained in batches that are done for good, packed by query."""
        if self._parquet is None:
            raise DataError("the answers of this flow go to sinks of its own", hint="ask them, or add a ParquetSink")
        return self._parquet.read(self._spark, PACKED_ANSWERS, self.checkpoint.committed)


class OneOfFlow(Run):
    """One query of a flow that runs: its answers and changes."""

    def __init__(self, run: FlowRun, query: str, schema: Schema) -> None:
        self.__dict__.update(run.__dict__)
        self._run, self._id, self._schema = run, query, schema

    def _told(self) -> DataFrame:
        return rows_of(self._run.gained(), self._id, self._schema, self._spec.stamped)


def rows_of(gained: DataFrame, query: str, schema: Schema, stamped: bool) -> DataFrame:
    """The rows of one query out of what all have gained."""
    mine = gained.where(sf.array_contains(QUERIES, query))
    return mine.mapInArrow(unpacking(query, schema, stamped), answer_type(schema, stamped))
