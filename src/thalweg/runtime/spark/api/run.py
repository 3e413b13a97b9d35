"""A query at work on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.core.errors import DataError
from thalweg.core.python_values import read_instant
from thalweg.core.time import Clock, Instant
from thalweg.explain import choice_json, choice_text, seen_of
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.optimizer.optimize import Optimized
from thalweg.optimizer.statistics import Statistics
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.report import ShardReport, side_output_counts
from thalweg.runtime.distributed.ingest.side_outputs import BAD_ROWS, LATE, read_side_output
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.query_spec import QuerySpec
from thalweg.runtime.spark.api.failures import plain_failures
from thalweg.runtime.spark.sinks import ParquetSink, Sink
from thalweg.runtime.spark.tasks.answer_rows import EXP, SIGN, TS, answer_type
from thalweg.runtime.spark.tools.runtime_statistics import OperatorTotals, operator_totals, runtime_statistics


class Run:
    """Made by `SparkQuery.start`; `query` is Spark's own handle."""

    def __init__(
        self,
        spark: SparkSession,
        query: StreamingQuery,
        checkpoint: Checkpoint,
        spec: QuerySpec | FlowSpec,
        sinks: Sequence[Sink],
        optimized: Optimized | None = None,
    ) -> None:
        self._optimized = optimized
        self._spark, self.query, self.checkpoint, self._spec = spark, query, checkpoint, spec
        self._parquet = next((sink for sink in sinks if isinstance(sink, ParquetSink)), None)

    # -- answers

    def answer(self, at: Any = None) -> DataFrame:
        """The answer now, or at an instant that has passed, each row as often as it is in."""
        told = self._told()
        t = self._spark_time(self.instant(at))
        alive = (sf.col(TS).isNull() | (sf.col(TS) <= t)) & (sf.col(EXP).isNull() | (sf.col(EXP) > t))
        columns = [c for c in told.columns if c not in (TS, EXP, SIGN)]
        names = [sf.col(f"`{c}`") for c in columns]
        counted = told.where(alive).groupBy(*names).agg(sf.sum(SIGN).alias(SIGN)).where(sf.col(SIGN) > 0)
        return counted.select(*names, sf.explode(sf.sequence(sf.lit(1), sf.col(SIGN))).alias(SIGN)).select(*names)

    def changes(self) -> DataFrame:
        """What has entered (+1) and left (-1) the answer so far: `_t`, `_sign` and the row; net at each instant."""
        told, now = self._told(), self._spark_time(self.now)
        columns = [sf.col(f"`{c}`") for c in told.columns if c not in (TS, EXP, SIGN)]
        gained = told.select(sf.col(TS).alias("_t"), sf.col(SIGN).cast("long").alias(SIGN), *columns)
        ended = told.where(sf.col(EXP) <= now)
        lost = ended.select(sf.col(EXP).alias("_t"), (-sf.col(SIGN)).cast("long").alias(SIGN), *columns)
        net = gained.union(lost).groupBy("_t", *columns).agg(sf.sum(SIGN).alias(SIGN))
        return net.where(sf.col(SIGN) != 0).select("_t", SIGN, *columns)

    def _told(self) -> DataFrame:
        """All changes of batches that are done for good."""
        if self._parquet is None:
            raise DataError(
                "the changes of this query go to sinks of its own, so it has no answers to give",
                hint="ask the sink, or give start(sink=[...]) a ParquetSink too",
            )
        assert isinstance(self._spec, QuerySpec), "a flow has many answers"
        schema = answer_type(self._spec.blueprint.plan.schema, self._spec.stamped)
        return self._parquet.read(self._spark, schema, self.checkpoint.committed)

    # -- time

    @property
    def now(self) -> Instant:
        """The query's clock, in ticks: the answer is known up to here."""
        return min(report.now for report in self._reports(stage=0))

    @property
    def latest(self) -> Instant | None:
        """The greatest time of a tuple so far, in ticks."""
        latest = [report.latest for report in self._reports(stage=0) if report.latest is not None]
        return max(latest, default=None)

    def advance(self, t: Any, at_once: bool = False) -> None:
        """Let time pass up to `t`, though nothing may arrive.

        Rows that are there already are worked through first, however many batches that takes: nothing that came before
        is overtaken. With `at_once` time passes in the next batch; on a stream that never pauses nothing else can be.
        """
        self._command(read_instant(self.clock, t, "advance"), at_once)

    def drain(self, at_once: bool = False) -> None:
        """Nothing more will come: what waits because others might be late is let in. `at_once` is as in `advance`."""
        self._command(None, at_once)

    def _command(self, clock: Instant | None, at_once: bool) -> None:
        if not at_once:  # a source may be looked at before the commands are, and may hold back rows for later batches
            self.wait()
        self.checkpoint.command(clock)

    @property
    def clock(self) -> Clock:
        """What a tick means."""
        return Clock.TIMESTAMPS if self._spec.stamped else Clock.TICKS

    def instant(self, at: Any = None) -> Instant:
        """A time that has passed, in ticks; now, if none is given."""
        now = self.now
        if at is None:
            return now
        t = read_instant(self.clock, at, "answer")
        if t > now:
            raise DataError(
                f"the answer at {self.clock.show(t)} is not known yet: the clock is at {self.clock.show(now)}",
                hint="advance(t), then wait()",
            )
        return t

    def _spark_time(self, t: Instant) -> Any:
        return sf.timestamp_micros(sf.lit(t)) if self._spec.stamped else sf.lit(t)

    # -- the streaming query

    @property
    def layouts(self) -> Layouts:
        """Over how many groups its keys are spread, and in how many shards it runs and has run."""
        return self._spec.layouts

    def wait(self) -> None:
        """Until everything that is there now has been worked through."""
        with plain_failures():
            self.query.processAllAvailable()

    def wait_until_done(self, timeout: float | None = None) -> bool:
        """Until a bounded query has ended; False if it has not within `timeout` seconds."""
        with plain_failures():
            return self.query.awaitTermination(timeout) is not False  # type: ignore[arg-type]

    def stop(self) -> None:
        """End after the batch at work; a later start goes on from there."""
        self.query.stop()

    # -- what has happened

    def late(self, stream: str) -> list[dict[str, Any]]:
        """The rows of a stream that came too late, in order of batches; NULL in columns that were not to be kept."""
        return [row for table in read_side_output(self.checkpoint.folder, LATE, stream) for row in table.to_pylist()]

    def bad_rows(self, stream: str) -> list[dict[str, Any]]:
        """The rows of a stream that were no tuples, with the reason."""
        return [
            row for table in read_side_output(self.checkpoint.folder, BAD_ROWS, stream) for row in table.to_pylist()
        ]

    def metrics(self) -> dict[str, Any]:
        """State, delay and rows in side outputs, over all shards, as of the last batch that is done."""
        reports = [report for stage in range(self._spec.stages) for report in self._reports(stage)]
        progress, arrived = self.query.lastProgress, sum(report.arrived for report in reports)
        return {
            "batch": self.checkpoint.committed,
            "now": self.clock.show(self.now),
            "stored": sum(report.stored for report in reports),
            "waiting": sum(report.waiting for report in reports),
            "side_outputs": side_output_counts(reports),
            "rows_per_second": None if progress is None else 1000 * arrived / max(1, progress["batchDuration"]),
        }

    def explain(self, format: Literal["text", "json"] = "text") -> Any:
        """The plan that is run, what was expected of its operators, and what they were seen to do so far."""
        if self._optimized is None:
            raise DataError("the query runs as it is written, and nothing was estimated", hint="q.explain()")
        pipeline, done, ticks = self._totals()
        counted = seen_of(pipeline.places, done, ticks)
        return choice_json(self._optimized, counted) if format == "json" else choice_text(self._optimized, counted)

    def statistics(self) -> Statistics:
        """Statistics of streams and sub-plans as they have run, for `engine.query(..., statistics=...)`."""
        return runtime_statistics(*self._totals())

    def _totals(self) -> tuple[Pipeline, list[OperatorTotals], float]:
        assert isinstance(self._spec, QuerySpec), "a flow has many plans"
        pipeline = self._spec.blueprint.build()
        reports = [self._reports(stage) for stage in range(self._spec.stages)]
        began = min((report.began for report in reports[0] if report.began is not None), default=self.now)
        return pipeline, operator_totals(pipeline, self._spec.cut, reports), float(self.now - began)

    def _reports(self, stage: int) -> list[ShardReport]:
        """The reports of a stage's shards after the last batch that is done."""
        found = self.checkpoint.reports(stage)
        if not found:
            raise DataError("the query has not done a batch yet", hint="wait() first")
        return found
