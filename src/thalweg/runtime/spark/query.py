"""A standing query on Spark, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.plan import Plan
from thalweg.core.schema import Field, Schema
from thalweg.explain import explain_json, explain_text
from thalweg.patterns import Pattern, annotate
from thalweg.planner.blueprint import Blueprint
from thalweg.planner.shards import cut
from thalweg.runtime.spark.checkpoint import Asked, Checkpoint
from thalweg.runtime.spark.compile import Compiled, columns_read, compile_stages
from thalweg.runtime.spark.explain import as_lines, explain_stages, explain_streams, explain_tables
from thalweg.runtime.spark.finish import finishing
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.run import Run
from thalweg.runtime.spark.sinks import ParquetSink, Sink, Sinks, Told
from thalweg.runtime.spark.small import small_tables
from thalweg.runtime.spark.stage import unique_names


class SparkQuery:
    """Made by `Engine.query`."""

    def __init__(
        self,
        spark: SparkSession,
        blueprint: Blueprint,
        streams: Sequence[StreamInput],
        tables: Sequence[TableInput],
        asked: Asked,
        name: str | None,
        every: int | None,
    ) -> None:
        self.spark, self._blueprint = spark, blueprint
        self.streams, self.tables, self._asked = streams, tables, asked
        self.name, self._every = name, every
        self._pipeline = blueprint.build()

    @cached_property
    def _copied(self) -> frozenset[str]:
        """Tables that are small; found out late, since Spark may have to count their rows."""
        return small_tables(self.spark, self.tables)

    @property
    def plan(self) -> Plan:
        """The logical plan."""
        return self._blueprint.plan

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self._blueprint.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self._blueprint.plan).edge.pattern

    def explain(self, format: Literal["text", "json"] = "text") -> Any:
        """The plan with its update patterns and buffers, then what runs in the JVM, what in Python, by which keys."""
        parts = cut(self._pipeline, self._copied)
        needed = columns_read(self.plan, self._pipeline, parts)
        streams, tables = explain_streams(self.streams, self.plan, needed), explain_tables(self.tables)
        stages = explain_stages(self._pipeline, parts, self._asked.shards or self._asked.cores)
        if format == "json":
            return {**explain_json(self.plan), "streams": streams, "tables": tables, "stages": stages}
        return explain_text(self.plan) + "\n\n" + "\n".join(as_lines(streams, tables, stages))

    def start(
        self,
        checkpoint: str | Path,
        sink: Sink | Sequence[Sink] | None = None,
        trigger: dict[str, Any] | None = None,
    ) -> Run:
        """Let the query run; with a checkpoint that exists it goes on where it was, perhaps in more or fewer shards.

        `sink` (or several: see `thalweg.sinks`) takes the changes of the answer; without one they are kept as Parquet
        in the checkpoint. `answer` and `changes` of the run read such a Parquet sink, wherever it is.
        `trigger` is Spark's, as in `{"processingTime": "1 second"}` or `{"availableNow": True}`.
        """
        place = Checkpoint.at(checkpoint)
        compiled = self._compile(place)
        given = [sink] if isinstance(sink, Sink) else [*(sink or [])]
        sinks = Sinks(given or [ParquetSink(place.answers)])
        sinks.open(Told(self.plan, _shown(self.schema), compiled.spec.stamped, place))
        write = finishing(sinks, place, compiled.spec)
        writer = compiled.frame.writeStream.foreachBatch(write).option("checkpointLocation", str(place.spark))
        writer = writer.outputMode("append").trigger(**(trigger or {"processingTime": "0 seconds"}))
        if self.name:
            writer = writer.queryName(self.name)
        return Run(self.spark, writer.start(), place, compiled.spec, sinks.sinks)

    def changes(self, checkpoint: str | Path) -> DataFrame:
        """The changes of the answer as a streaming DataFrame, for any sink of Spark's, in append mode.

        The batches of Spark's writer number the query's states, so the two checkpoints belong together: give the
        writer `writer_options(checkpoint)`, and start one writer only.

            df = q.changes("/checkpoints/top")
            df.writeStream.format("kafka").options(**q.writer_options("/checkpoints/top")).start()
        """
        return self._compile(Checkpoint.at(checkpoint)).frame

    @staticmethod
    def writer_options(checkpoint: str | Path) -> dict[str, str]:
        """The option `checkpointLocation` for the writer of `changes(checkpoint)`."""
        return {"checkpointLocation": str(Checkpoint.at(checkpoint).spark)}

    def _compile(self, place: Checkpoint) -> Compiled:
        return compile_stages(
            self.spark, self._blueprint, self._copied, self.streams, self.tables, self._asked, self._every, place
        )


def _shown(schema: Schema) -> Schema:
    """The columns under the names that they have in a DataFrame."""
    return Schema(tuple(Field(name, f.type) for name, f in zip(unique_names(schema), schema, strict=True)))
