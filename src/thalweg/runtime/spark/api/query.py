"""A standing query on Spark: EXPLAIN, and `start`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.flows.query_info import QueryInfo, QueryState
from thalweg.kernel.pipeline.blueprint import Choice
from thalweg.kernel.pipeline.identity import Identity
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice
from thalweg.runtime.distributed.checkpoint.resume import resume
from thalweg.runtime.distributed.stages import cut
from thalweg.runtime.interface import ExplainFormat, RunMetrics, Time, TimeLike
from thalweg.runtime.spark.api.failures import plain
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.api.request import QueryRequest, broadcast_tables
from thalweg.runtime.spark.api.start import leased, sinks_for, start_stream
from thalweg.runtime.spark.compile.explain import explain_choice
from thalweg.runtime.spark.compile.query_frame import Job, compile_query, is_stamped
from thalweg.runtime.spark.inputs import StreamInput, TableInput
from thalweg.runtime.spark.sinks import Retry, Sink
from thalweg.runtime.spark.tasks.answer_rows import answer_type


class SparkQuery:
    """Made by `Engine.query`. `start` runs it; `run` is its last run, which gives the answers.

    `streams` and `tables` are those that the query reads as it is written.
    """

    def __init__(
        self,
        spark: SparkSession,
        request: QueryRequest,
        streams: Sequence[StreamInput],
        tables: Sequence[TableInput],
        asked: Asked,
        name: str,
        cql: str,
        every: int | None,
        spark_name: str | None,
    ) -> None:
        """`spark_name` is the name for Spark's own query, which must be unique there; None if the user gave no name."""
        self.spark, self._request = spark, request
        self.streams, self.tables, self._asked = streams, tables, asked
        self.name, self._cql, self._every, self._spark_name = name, cql, every, spark_name
        self.run: SparkQueryRun | None = None

    @cached_property
    def _choice(self) -> Choice:
        return self._request.choose()

    @cached_property
    def _broadcast(self) -> frozenset[str]:
        """The tables to broadcast; computed when needed, since Spark may have to count their rows."""
        return broadcast_tables(self.spark, self.tables)

    @property
    def plan(self) -> Plan:
        """The logical plan, as written."""
        return self._request.plan

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.plan.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return annotate(self.plan).edge.pattern

    @property
    def clock(self) -> Clock:
        """Whether time is timestamps or ticks."""
        return Clock.TIMESTAMPS if self._stamped else Clock.TICKS

    @property
    def now(self) -> Time | None:
        """The clock (watermark) of the run: the answer is known up to here; None before it has started."""
        return None if self.run is None else self.run.now

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""
        return name in _sources_of(self.plan)

    @property
    def is_active(self) -> bool:
        """Whether the query was started and runs."""
        return self.run is not None and self.run.is_active

    @property
    def info(self) -> QueryInfo:
        """For `Engine.queries`."""
        if self.run is None:
            return QueryInfo(self.name, self.name, self._cql, QueryState.CREATED)
        failure = self.run.query.exception()
        ended = QueryState.STOPPED if failure is None else QueryState.FAILED
        state = QueryState.RUNNING if self.is_active else ended
        reason = None if failure is None else plain(str(failure)).message
        return QueryInfo(self.name, self.name, self._cql, state, reason)

    # -- answers of the run

    def answer(self, at: TimeLike | None = None) -> DataFrame:
        """The answer now, or at an instant that has passed, each row as often as it is in."""
        return self._started.answer(at)

    def changes(self) -> DataFrame:
        """The rows that entered (+1) and left (-1) the answer so far, net at each instant: `_t`, `_sign`, columns."""
        return self._started.changes()

    def metrics(self) -> RunMetrics:
        """Counts over all shards as of the last batch that is done; empty before the first."""
        return RunMetrics() if self.run is None else self.run.metrics()

    @property
    def _started(self) -> SparkQueryRun:
        if self.run is None:
            raise DataError(f"the query {self.name} has not been started", hint="start(checkpoint) first")
        return self.run

    def explain(self, *, format: ExplainFormat = "text", analyze: bool = False, plans: bool = False) -> Any:
        """The plan with its update patterns, state and bounds, then the plan that is run, its costs and its stages.

        With `analyze`, measurements of the operators stand beside the estimates; with `plans`, all plans that were
        compared are shown. The result is text, or a dictionary for JSON.
        """
        if format not in ("text", "json"):
            raise DataError(f"EXPLAIN has no format {format!r}", candidates=("text", "json"))
        seen = ({} if self.run is None else self.run.seen()) if analyze else None
        streams, tables = self._read_by(self._choice.blueprint.plan)
        shards = self._asked.shards or self._asked.cores
        found = explain_choice(self._choice, streams, tables, self._broadcast, shards)
        return found.as_json(self.plan, seen) if format == "json" else found.as_text(self.plan, seen, plans)

    # -- running

    def start(
        self,
        checkpoint: str | Path,
        *,
        sink: Sink | Sequence[Sink] | None = None,
        retry: Retry | None = None,
        trigger: Mapping[str, Any] | None = None,
        take_over: bool = False,
    ) -> SparkQueryRun:
        """Run the query; with an existing checkpoint it goes on where it stopped, perhaps in more or fewer shards.

        `sink` (or several: see `thalweg.sinks`) takes the changes of the answer; without one they are kept as Parquet
        in the checkpoint. `answer` and `changes` of the run read such a Parquet sink, wherever it is.
        `retry` says how often a sink that fails is tried again; a sink may have a policy of its own.
        `trigger` is Spark's, as in `{"processingTime": "1 second"}` or `{"availableNow": True}`.

        A checkpoint has one driver at a time. One that another driver holds is refused, unless you `take_over`: the
        other one can write no more, even if it is still alive.
        """
        place = Checkpoint.at(checkpoint)
        sinks = sinks_for(sink, place, answer_type(self.schema, self._stamped), retry)
        self._check_owner(place)
        with leased(place, take_over) as lease:
            job = self._job(place, lease.fence)
            compiled = compile_query(self.spark, job, sinks.take())
            query = start_stream(compiled, sinks, place, lease, plan=self.plan, name=self._spark_name, trigger=trigger)
        self.run = SparkQueryRun(self, query, place, job.query, sinks, lease)
        return self.run

    def change_stream(self, checkpoint: str | Path, *, take_over: bool = False) -> DataFrame:
        """The changes of the answer as a streaming DataFrame, for any sink of Spark's, in append mode.

        The batches of Spark's writer number the query's states, so the two checkpoints belong together: give the
        writer `writer_options(checkpoint)`, and start one writer only. This process holds the checkpoint until it ends;
        `take_over` is as in `start`.

            df = q.change_stream("/checkpoints/top")
            df.writeStream.format("kafka").options(**q.writer_options("/checkpoints/top")).start()
        """
        place = Checkpoint.at(checkpoint)
        self._check_owner(place)
        with leased(place, take_over) as lease:
            frame = compile_query(self.spark, self._job(place, lease.fence), None).frame
        lease.keep()  # nobody says when the writer stops
        return frame

    @staticmethod
    def writer_options(checkpoint: str | Path) -> dict[str, str]:
        """The option `checkpointLocation` for the writer of `change_stream(checkpoint)`."""
        return {"checkpointLocation": str(Checkpoint.at(checkpoint).spark)}

    def __repr__(self) -> str:
        return f"<query {self.name}: {self.info.state}, {self.patterns.name}, {', '.join(map(str, self.schema))}>"

    @property
    def _stamped(self) -> bool:
        return is_stamped(self.streams, self.tables)

    @property
    def _identity(self) -> Identity:
        return Identity.of(self.plan, self._request.strategy.value)

    def _check_owner(self, place: Checkpoint) -> None:
        """Raise a CheckpointError if the checkpoint is that of another query."""
        if place.is_claimed:
            place.query_file.check(self._identity, place.folder)

    def _job(self, place: Checkpoint, fence: int = 0) -> Job:
        """Claim the checkpoint, and plan the run. A query keeps the plan that it was first started with."""
        choice, goes_on = self._choice, place.is_claimed
        if goes_on:
            pinned = place.query_file.pinned_choice
            choice = self._request.choose(pinned)
            pinned.check(choice.blueprint.plan)
        else:
            found = Statistics() if choice.optimized is None else choice.optimized.statistics
            settings = choice.blueprint.settings
            pinned = PinnedChoice(self._broadcast, found, digest(choice.blueprint.plan), settings.in_parts)
        parts = cut(choice.blueprint.build(), pinned.broadcast)
        if goes_on:
            resume(place, parts.count)
        layouts = place.claim(self._identity, self._asked, pinned)
        streams, tables = self._read_by(choice.blueprint.plan)
        job = Job(choice.blueprint, parts, layouts, streams, tables, place, self._stamped, self._every, fence)
        self._choice, self._broadcast = choice, pinned.broadcast
        return job

    def _read_by(self, plan: Plan) -> tuple[list[StreamInput], list[TableInput]]:
        """The inputs of the plan that is run: perhaps fewer than those of the plan as written."""
        read = _sources_of(plan)
        streams = [stream for stream in self.streams if stream.stream.name in read]
        return streams, [table for table in self.tables if table.relation.name in read]


def _sources_of(plan: Plan) -> set[str]:
    return {leaf.source.name for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan)}
