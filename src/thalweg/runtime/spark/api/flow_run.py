"""A flow at work on Spark, and one of its queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.query import StreamingQuery

from thalweg.algebra.codec import Functions
from thalweg.algebra.plan import RelationScan, StreamScan
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.time import Clock
from thalweg.explain import choice_json, choice_text, explain_json, explain_text
from thalweg.flows.command import Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.standing import Standing
from thalweg.kernel.pipeline.blueprint import choose
from thalweg.patterns import Pattern, annotate
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.lease import HeldLease
from thalweg.runtime.distributed.worker.program import RunSpec
from thalweg.runtime.interface import ExplainFormat, Time, TimeLike
from thalweg.runtime.spark.api.answers import answer_at, changes_until
from thalweg.runtime.spark.api.run import SparkRun
from thalweg.runtime.spark.sinks import Sinks
from thalweg.runtime.spark.tasks.answer_rows import answer_type
from thalweg.runtime.spark.tasks.flow_answers import PACKED_ANSWERS, QUERIES, unpacking

if TYPE_CHECKING:
    from thalweg.runtime.spark.api.flow import SparkFlow


class SparkFlowRun(SparkRun):
    """Made by `SparkFlow.start`. Time, waiting, metrics and stopping are those of a query's run."""

    def __init__(
        self,
        spark: SparkSession,
        query: StreamingQuery,
        checkpoint: Checkpoint,
        spec: RunSpec,
        sinks: Sinks,
        lease: HeldLease,
        functions: Functions,
    ) -> None:
        super().__init__(spark, query, checkpoint, spec, sinks, lease)
        self.functions = functions  # of users, that its tasks know

    def output(self, query: str, schema: Schema) -> DataFrame:
        """All rows with intervals that one query has emitted in committed batches."""
        if self._parquet is None:
            raise DataError(
                "the answers of this flow go only to the sinks that it was given",
                hint="read them there, or add a ParquetSink",
            )
        packed = self._parquet.read(self._spark, PACKED_ANSWERS, self.checkpoint.committed)
        return rows_of(packed, query, schema, self._spec.stamped)

    def __repr__(self) -> str:
        state = "running" if self.is_active else "stopped"
        return f"<run of a flow: {state}, {self.checkpoint.committed + 1} batches done, now {self.now}>"


class SparkFlowQuery:
    """Made by `SparkFlow.get_query`. Its clock is the flow's."""

    def __init__(self, flow: SparkFlow, standing: Standing, command: Command) -> None:
        self.id, self.name, self.plan = standing.id, standing.name, standing.plan
        self._flow, self._sees_all = flow, command.whole

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
        return self._flow.clock

    @property
    def now(self) -> Time | None:
        """The flow's clock (watermark): the answer is known up to here; None before it has started."""
        return self._flow.now

    def reads(self, name: str) -> bool:
        """Whether the query reads a stream or table."""
        return any(isinstance(p, StreamScan | RelationScan) and p.source.name == name for p in self.plan.walk())

    def answer(self, at: TimeLike | None = None) -> DataFrame:
        """The answer now, or at an instant since the query was added, each row as often as it is in."""
        run = self._flow.started
        return answer_at(run.output(self.id, self.schema), run.instant(at), run.clock)

    def changes(self) -> DataFrame:
        """The rows that entered (+1) and left (-1) the answer so far, net at each instant: `_t`, `_sign`, columns."""
        run = self._flow.started
        return changes_until(run.output(self.id, self.schema), run.instant(), run.clock)

    def explain(self, *, format: ExplainFormat = "text") -> Any:
        """The plan with its update patterns, the plan that is run, and where it runs."""
        chosen, where = choose(self.plan).optimized, "one place" if self._sees_all else "every shard"
        if format == "json":
            choice = {} if chosen is None else {"choice": choice_json(chosen)}
            return {**explain_json(self.plan), **choice, "runs_in": where}
        shown = [explain_text(self.plan), *([] if chosen is None else [choice_text(chosen)])]
        sees = "it sees all tuples" if self._sees_all else "each sees the tuples of its keys"
        return "\n".join([*(text.rstrip("\n") for text in shown), f"RUNS IN {where}: {sees}"]) + "\n"

    def metrics(self) -> QueryMetrics:
        """Tuples received, results emitted, and the query's share of the flow's cost."""
        return next(query.metrics for query in self._flow.queries() if query.id == self.id)

    def __repr__(self) -> str:
        return f"<query {self.id} ({self.name}): {', '.join(map(str, self.schema))}>"


def rows_of(packed: DataFrame, query: str, schema: Schema, stamped: bool) -> DataFrame:
    """The rows of one query from the packed changes of all."""
    mine = packed.where(sf.array_contains(QUERIES, query))
    return mine.mapInArrow(unpacking(query, schema, stamped), answer_type(schema, stamped))
