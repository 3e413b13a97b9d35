"""A standing query on Spark, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from thalweg.core.schema import Schema
from thalweg.explain import explain_json, explain_text
from thalweg.patterns import Pattern, annotate
from thalweg.planner.blueprint import Blueprint
from thalweg.planner.shards import cut
from thalweg.runtime.spark.checkpoint import Checkpoint
from thalweg.runtime.spark.compile import Compiled, compile_stages
from thalweg.runtime.spark.explain import explain_stages
from thalweg.runtime.spark.finish import finishing
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.run import Run
from thalweg.runtime.spark.sinks import AnswerSink, Sink


class SparkQuery:
    """Made by `Engine.query`."""

    def __init__(
        self,
        spark: SparkSession,
        blueprint: Blueprint,
        streams: Sequence[StreamInput],
        tables: Sequence[TableInput],
        shards: int,
        name: str | None,
    ) -> None:
        self._spark, self._blueprint = spark, blueprint
        self._streams, self._tables, self._shards = streams, tables, shards
        self.name = name
        self._pipeline = blueprint.build()
        self._cut = cut(self._pipeline)

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self._blueprint.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self._blueprint.plan).edge.pattern

    def explain(self, format: Literal["text", "json"] = "text") -> Any:
        """The plan with its update patterns and buffers, then the stages it runs in, their keys and exchanges."""
        stages = explain_stages(self._pipeline, self._cut, self._shards)
        if format == "json":
            return {**explain_json(self._blueprint.plan), "stages": stages}
        lines = [f"stage {s['stage']} x {s['shards']}: " + "; ".join(s["operators"]) for s in stages]
        inputs = [f"  in: {port['of']} by {port['by']}" for s in stages for port in s["inputs"]]
        return explain_text(self._blueprint.plan) + "\n\n" + "\n".join(_woven(stages, lines, inputs))

    def start(
        self,
        checkpoint: str | Path,
        sink: Sink | None = None,
        trigger: dict[str, Any] | None = None,
    ) -> Run:
        """Let the query run; with a checkpoint that exists it goes on where it was.

        `sink` takes the changes of the answer; without one they are kept in the checkpoint, for `answer` and `changes`.
        `trigger` is Spark's, as in `{"processingTime": "1 second"}` or `{"availableNow": True}`.
        """
        place = Checkpoint(Path(checkpoint).absolute())
        compiled = self._compile(place)
        sink = sink or AnswerSink(place.answers)
        write = finishing(sink, place, compiled.spec)
        writer = compiled.frame.writeStream.foreachBatch(write).option("checkpointLocation", str(place.spark))
        writer = writer.outputMode("append").trigger(**(trigger or {"processingTime": "0 seconds"}))
        if self.name:
            writer = writer.queryName(self.name)
        return Run(self._spark, writer.start(), place, compiled.spec, sink)

    def changes(self, checkpoint: str | Path) -> DataFrame:
        """The changes of the answer as a streaming DataFrame, for any sink of Spark's; its checkpoint must be `spark`
        in this one's folder."""
        return self._compile(Checkpoint(Path(checkpoint).absolute())).frame

    def _compile(self, place: Checkpoint) -> Compiled:
        return compile_stages(self._spark, self._blueprint, self._cut, self._streams, self._tables, self._shards, place)


def _woven(stages: Sequence[dict[str, Any]], lines: Sequence[str], inputs: Sequence[str]) -> list[str]:
    """Each stage with the lines of its inputs below."""
    rest, woven = list(inputs), []
    for stage, line in zip(stages, lines, strict=True):
        count = len(stage["inputs"])
        woven += [line, *rest[:count]]
        rest = rest[count:]
    return woven
