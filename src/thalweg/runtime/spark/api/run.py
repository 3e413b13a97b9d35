"""A run of a query or a flow on Spark: its clock, metrics and side outputs; waiting and stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.core.errors import DataError
from thalweg.core.python_values import read_instant, show_instant
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.lease import HeldLease
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE, ShardReport, side_output_counts
from thalweg.runtime.distributed.ingest.side_outputs import rows_by_source, rows_not_kept, side_output_rows
from thalweg.runtime.distributed.worker.program import RunSpec
from thalweg.runtime.interface import RunMetrics, Time, TimeLike
from thalweg.runtime.spark.api.failures import plain_failures
from thalweg.runtime.spark.sinks import ParquetSink, Sinks
from thalweg.runtime.spark.sinks.rejected import REJECTED, RejectedRows


class SparkRun:
    """Made by `start` of a query or a flow; `query` is Spark's own handle."""

    def __init__(
        self,
        spark: SparkSession,
        query: StreamingQuery,
        checkpoint: Checkpoint,
        spec: RunSpec,
        sinks: Sinks,
        lease: HeldLease,
    ) -> None:
        self._lease = lease
        self._spark, self.query, self.checkpoint, self._spec = spark, query, checkpoint, spec
        self._parquet = next((sink for sink in sinks.sinks if isinstance(sink, ParquetSink)), None)
        self._sinks = sinks

    # -- time

    @property
    def clock(self) -> Clock:
        """Whether time is timestamps or ticks."""
        return Clock.TIMESTAMPS if self._spec.stamped else Clock.TICKS

    @property
    def clock_now(self) -> Instant | None:
        """The clock (watermark) in ticks; None before it has started."""
        now = min((report.now for report in self.checkpoint.reports()), default=BEGINNING)
        return None if now <= BEGINNING else now

    @property
    def now(self) -> Time | None:
        """The clock (watermark): the answer is known up to here; None before it has started."""
        return self._shown(self.clock_now)

    @property
    def latest(self) -> Time | None:
        """The greatest time of a tuple so far; None before the first."""
        times = (report.latest for report in self.checkpoint.reports())
        return self._shown(max((t for t in times if t is not None), default=None))

    def instant(self, at: TimeLike | None = None) -> Instant:
        """A time up to the clock, in ticks; by default the clock itself."""
        now = min(report.now for report in self._reports(stage=0))
        if at is None:
            return now
        t = read_instant(self.clock, at, "answer")
        if t > now:
            raise DataError(
                f"the answer at {self.clock.show(t)} is not known yet: the clock is at {self.clock.show(now)}",
                hint="advance(t), then wait()",
            )
        return t

    def _shown(self, t: Instant | None) -> Time | None:
        return None if t is None else show_instant(self.clock, t)

    def advance(self, t: TimeLike, *, at_once: bool = False) -> None:
        """Let time pass up to `t`, even if no row arrives.

        Rows that the sources have now are processed first, so that none becomes late; that may take many batches. With
        `at_once` time passes in the next batch: use it if a stream never pauses.
        """
        self._command(read_instant(self.clock, t, "advance"), at_once)

    def drain(self, *, at_once: bool = False) -> None:
        """Process all rows that wait for late ones: no more rows will come.

        `at_once` is as in `advance`.
        """
        self._command(None, at_once)

    def _command(self, clock: Instant | None, at_once: bool) -> None:
        if not at_once:  # a batch may read the command but not all rows that the sources have
            self.wait()
        self.checkpoint.command(clock)

    # -- the streaming query

    @property
    def is_active(self) -> bool:
        """Whether Spark runs a batch or waits for the next."""
        return bool(self.query.isActive)

    @property
    def layouts(self) -> Layouts:
        """The number of groups that keys are spread over, and the numbers of shards now and before."""
        return self._spec.layouts

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all rows that sources have now are processed; False if that takes more than `timeout` seconds."""
        with plain_failures():
            return _within(timeout, self.query.processAllAvailable)

    def wait_until_done(self, timeout: float | None = None) -> bool:
        """Wait until a bounded query has ended; False if that takes longer than `timeout` seconds."""
        try:
            with plain_failures():
                return self.query.awaitTermination(timeout) is not False  # type: ignore[arg-type]
        finally:
            if not self.is_active:
                self._lease.release()

    def stop(self) -> None:
        """End after the current batch; a later start goes on from there."""
        self.query.stop()
        self._lease.release()

    # -- side outputs and metrics

    def late(self, stream: str) -> list[dict[str, Any]]:
        """The late rows of a stream, in order of batches; NULL in columns that were not kept."""
        return side_output_rows(self.checkpoint.folder, LATE, stream)

    def bad_rows(self, stream: str) -> list[dict[str, Any]]:
        """The bad rows of a stream, with the reasons."""
        return side_output_rows(self.checkpoint.folder, BAD_ROWS, stream)

    def rejected(self, *, sink: str | None = None) -> list[dict[str, Any]]:
        """The rows that a sink could not write because of their values, with the reasons; of all sinks, or of one.

        `sink` is its name, such as "TableSink busy".
        """
        found = RejectedRows.every(self.checkpoint.side_outputs)
        return [row for kept in found if sink in (None, kept.sink) for row in kept.rows()]

    def metrics(self) -> RunMetrics:
        """Counts over all shards after the last committed batch; empty before the first."""
        stages = [self.checkpoint.reports(stage) for stage in range(len(self._spec.stages))]
        if not all(stages):
            return RunMetrics()
        reports = [report for stage in stages for report in stage]
        side = side_output_counts(reports)
        not_kept = {str(output): count for output, count in rows_not_kept(side).items()}
        rejected = [kept.count for kept in RejectedRows.every(self.checkpoint.side_outputs)]
        not_kept |= {f"{REJECTED} {count.sink}": count.not_kept for count in rejected if count.not_kept}
        progress, arrived = self.query.lastProgress, sum(report.arrived for report in reports)
        return RunMetrics(
            now=self.now,
            stored=sum(report.stored for report in reports),
            waiting=sum(report.waiting for report in reports),
            late=rows_by_source(side, LATE),
            bad_rows=rows_by_source(side, BAD_ROWS),
            not_kept=not_kept,
            rejected={count.sink: count.total for count in rejected},
            retries=dict(self._sinks.retries.counts),
            operators=self._operators(stages),
            batch=self.checkpoint.committed,
            rows_per_second=None if progress is None else 1000 * arrived / max(1, progress["batchDuration"]),
        )

    def _operators(self, stages: Sequence[Sequence[ShardReport]]) -> tuple[OperatorMetrics, ...]:
        """The metrics of each operator, from the reports of all shards; a flow counts by query instead."""
        return ()

    def _reports(self, stage: int) -> list[ShardReport]:
        """The reports of a stage's shards after the last committed batch."""
        found = self.checkpoint.reports(stage)
        if not found:
            raise DataError("the query has not done a batch yet", hint="wait() first")
        return found


def _within(timeout: float | None, call: Callable[[], None]) -> bool:
    """Call a function that takes no timeout; False if it has not returned in time and still runs in a thread."""
    if timeout is None:
        call()
        return True
    failures: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as failure:
            failures.append(failure)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout)
    if failures:
        raise failures[0]
    return not thread.is_alive()
