"""A standing query on Spark, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.schema import Field, Schema
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.choice import Choice, choose
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.partial_aggregates import PARTIAL_AGGREGATES_FROM_TICKS
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.pinned_choice import PinnedChoice
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.spark.api.inputs import StreamInput, TableInput
from thalweg.runtime.spark.api.run import Run
from thalweg.runtime.spark.compile.broadcast import broadcast_tables
from thalweg.runtime.spark.compile.explain import as_lines, explain_stages, explain_streams, explain_tables
from thalweg.runtime.spark.compile.query_frame import Compiled, Job, columns_read, compile_query_frame, is_stamped
from thalweg.runtime.spark.compile.stage_frames import write_batches
from thalweg.runtime.spark.sinks import ParquetSink, Sink, SinkContext, Sinks
from thalweg.runtime.spark.tasks.answer_rows import answer_type, unique_names
from thalweg.runtime.spark.tasks.deliver import Take
from thalweg.runtime.spark.tasks.stateless import is_stateless


@dataclass(frozen=True)
class Asking:
    """What a user asks: a plan as written, how to run it, and what is known of its sources."""

    plan: Plan
    strategy: Strategy
    settings: Settings
    statistics: Statistics

    def choose(self, pinned: PinnedChoice | None = None) -> Choice:
        """The plan that runs; a checkpoint may have `pinned` some choices."""
        statistics = self.statistics if pinned is None else pinned.statistics
        settings = self.settings
        if pinned is not None:
            settings = replace(settings, in_parts=pinned.in_parts)
        elif settings.in_parts is None and settings.optimize and self.strategy is Strategy.AUTO:
            settings = replace(settings, in_parts=PARTIAL_AGGREGATES_FROM_TICKS)
        return choose(self.plan, self.strategy, settings, statistics, in_shards=True)


class SparkQuery:
    """Made by `Engine.query`. `streams` and `tables` are all that the query reads as it is written."""

    def __init__(
        self,
        spark: SparkSession,
        asking: Asking,
        streams: Sequence[StreamInput],
        tables: Sequence[TableInput],
        asked: Asked,
        name: str | None,
        every: int | None,
    ) -> None:
        self.spark, self._asking = spark, asking
        self.streams, self.tables, self._asked = streams, tables, asked
        self.name, self._every = name, every

    @cached_property
    def _choice(self) -> Choice:
        return self._asking.choose()

    @cached_property
    def _broadcast(self) -> frozenset[str]:
        """Tables that are small; found out late, since Spark may have to count their rows."""
        return broadcast_tables(self.spark, self.tables)

    @property
    def plan(self) -> Plan:
        """The logical plan, as written."""
        return self._asking.plan

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self.plan).edge.pattern

    def explain(self, format: Literal["text", "json"] = "text", plans: bool = False) -> Any:
        """The plan with its update patterns and buffers, what is run and what that costs, then what runs where.

        With `plans` all plans that were compared are shown.
        """
        blueprint, found = self._choice.blueprint, self._choice.optimized
        pipeline = blueprint.build()
        parts = cut(pipeline, self._broadcast)
        inputs, held = self._read_by(blueprint.plan)
        needed = columns_read(blueprint.plan, blueprint.lower(), parts)
        streams, tables = explain_streams(inputs, blueprint.plan, needed), explain_tables(held)
        times = {stream.stream.name: stream.time for stream in inputs}
        at_once = not held and is_stateless(blueprint, parts, times)
        stages = explain_stages(pipeline, parts, self._asked.shards or self._asked.cores, at_once)
        if format == "json":
            choice = {} if found is None else {"choice": choice_json(found)}
            return {**explain_json(self.plan), **choice, "streams": streams, "tables": tables, "stages": stages}
        chosen = "" if found is None else "\n" + (plans_text if plans else choice_text)(found)
        return explain_text(self.plan) + chosen + "\n\n" + "\n".join(as_lines(streams, tables, stages))

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
        given = [sink] if isinstance(sink, Sink) else [*(sink or [])]
        sinks = Sinks(given or [ParquetSink(place.answers)], answer_type(self.schema, self._stamped))
        compiled = self._compile(place, sinks.take())
        sinks.open(SinkContext(self.plan, _shown(self.schema), compiled.spec.stamped, place))
        write = write_batches(sinks, place, compiled.spec.stages)
        writer = compiled.frame.writeStream.foreachBatch(write).option("checkpointLocation", str(place.spark))
        writer = writer.outputMode("append").trigger(**(trigger or {"processingTime": "0 seconds"}))
        if self.name:
            writer = writer.queryName(self.name)
        return Run(self.spark, writer.start(), place, compiled.spec, sinks.sinks, compiled.optimized)

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

    @property
    def _stamped(self) -> bool:
        return is_stamped(self.streams, self.tables)

    def _compile(self, place: Checkpoint, take: Take | None = None) -> Compiled:
        """The checkpoint becomes the query's; the choices that were pinned when it first started count."""
        identity = Identity.of(self.plan, self._asking.strategy.value)
        choice, pinned = self._choice, None
        if not place.is_claimed:
            known = Statistics() if choice.optimized is None else choice.optimized.statistics
            settings = choice.blueprint.settings
            pinned = PinnedChoice(self._broadcast, known, digest(choice.blueprint.plan), settings.in_parts)
        layouts = place.claim(identity, self._asked, pinned)
        if pinned is None:
            pinned = place.pinned_choice
            choice = self._asking.choose(pinned)
            pinned.check(choice.blueprint.plan)
        parts = cut(choice.blueprint.build(), pinned.broadcast)
        streams, tables = self._read_by(choice.blueprint.plan)
        job = Job(choice.blueprint, parts, layouts, streams, tables, place, self._stamped, self._every)
        compiled = compile_query_frame(self.spark, job, take)
        return replace(compiled, optimized=choice.optimized)

    def _read_by(self, plan: Plan) -> tuple[list[StreamInput], list[TableInput]]:
        """What a plan reads: perhaps less than the query as it is written."""
        read = {leaf.source.name for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan)}
        streams = [stream for stream in self.streams if stream.stream.name in read]
        return streams, [table for table in self.tables if table.relation.name in read]


def _shown(schema: Schema) -> Schema:
    """The columns under the names that they have in a DataFrame."""
    return Schema(tuple(Field(name, f.type) for name, f in zip(unique_names(schema), schema, strict=True)))
