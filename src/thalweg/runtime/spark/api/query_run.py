"""A run of a query on Spark: its answers and changes, and measurements of its operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.algebra.plan import Plan
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.explain import OperatorMeasurement, measurements
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.optimizer.statistics import Statistics
from thalweg.patterns import Pattern
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.lease import HeldLease
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.worker.cut_query import CutQuery
from thalweg.runtime.interface import ExplainFormat, TimeLike
from thalweg.runtime.spark.api.answers import answer_at, changes_until
from thalweg.runtime.spark.api.run import SparkRun
from thalweg.runtime.spark.api.statistics import operator_totals, runtime_statistics
from thalweg.runtime.spark.sinks import Sinks
from thalweg.runtime.spark.tasks.answer_rows import answer_type

if TYPE_CHECKING:
    from thalweg.runtime.spark.api.query import SparkQuery


class SparkQueryRun(SparkRun):
    """Made by `SparkQuery.start`."""

    def __init__(
        self,
        made: SparkQuery,
        query: StreamingQuery,
        checkpoint: Checkpoint,
        runs: CutQuery,
        sinks: Sinks,
        lease: HeldLease,
    ) -> None:
        super().__init__(made.spark, query, checkpoint, runs.run_spec, sinks, lease)
        self._made, self._runs = made, runs

    @property
    def name(self) -> str:
        """The query's name: the one that was given, or q1, q2, ..."""
        return self._made.name

    @property
    def plan(self) -> Plan:
        """The logical plan, as written."""
        return self._made.plan

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self._made.schema

    @property
    def patterns(self) -> Pattern:
        """The update pattern of the query's result."""
        return self._made.patterns

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""
        return self._made.reads(name)

    def answer(self, at: TimeLike | None = None) -> DataFrame:
        """The answer now, or at an instant that has passed, each row as often as it is in."""
        return answer_at(self._output(), self.instant(at), self.clock)

    def changes(self) -> DataFrame:
        """The rows that entered (+1) and left (-1) the answer so far, net at each instant: `_t`, `_sign`, columns."""
        return changes_until(self._output(), self.instant(), self.clock)

    def explain(self, *, format: ExplainFormat = "text", analyze: bool = False, plans: bool = False) -> Any:
        """The plan with its update patterns, state and bounds, then the plan that is run, its costs and its stages.

        With `analyze`, measurements of the operators stand beside the estimates; with `plans`, all plans that were
        compared are shown. The result is text, or a dictionary for JSON.
        """
        return self._made.explain(format=format, analyze=analyze, plans=plans)

    def statistics(self) -> Statistics:
        """Measured rates of streams and sub-plans, for `engine.query(..., statistics=...)`."""
        stages = [self._reports(stage) for stage in range(len(self._spec.stages))]
        pipeline = self._runs.blueprint.build()
        return runtime_statistics(pipeline, self._done(pipeline, stages), self._ticks(stages))

    def seen(self) -> dict[Plan, OperatorMeasurement]:
        """Measurements of each operator since the first start; empty before the first batch."""
        stages = [self.checkpoint.reports(stage) for stage in range(len(self._spec.stages))]
        if not all(stages):
            return {}
        pipeline = self._runs.blueprint.build()
        return measurements(pipeline.places, self._done(pipeline, stages), self._ticks(stages))

    def _operators(self, stages: Sequence[Sequence[ShardReport]]) -> tuple[OperatorMetrics, ...]:
        return tuple(self._done(self._runs.blueprint.build(), stages))

    def _done(self, pipeline: Pipeline, stages: Sequence[Sequence[ShardReport]]) -> list[OperatorMetrics]:
        return operator_totals(pipeline, self._runs.cut, stages)

    def _ticks(self, stages: Sequence[Sequence[ShardReport]]) -> float:
        """The time from the query's first instant to its clock."""
        now = min(report.now for report in stages[0])
        began = min((report.began for report in stages[0] if report.began is not None), default=now)
        return float(now - began)

    def _output(self) -> DataFrame:
        """All rows with intervals that the query has emitted in committed batches."""
        if self._parquet is None:
            raise DataError(
                "the changes of this query go only to the sinks that it was given, so answers cannot be read here",
                hint="read them from the sink, or give start(sink=[...]) a ParquetSink too",
            )
        schema = answer_type(self._runs.blueprint.plan.schema, self._spec.stamped)
        return self._parquet.read(self._spark, schema, self.checkpoint.committed)

    def __repr__(self) -> str:
        state = "running" if self.is_active else "stopped"
        return f"<run of {self.name}: {state}, {self.checkpoint.committed + 1} batches done, now {self.now}>"
