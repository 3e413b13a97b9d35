"""A query without state is answered in the tasks that read its rows, so the rows are not sent to shards.

A row's answers depend on the row alone. With one stream and no lateness, a row never waits for others, so it can be
answered when it is read. The reading task hands the answers to the sink. Shards get counts, the sink's notes, the
clock, and late rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.plan_properties import is_stateless_plan
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.runtime.distributed.exchange.codec import stream_lanes
from thalweg.runtime.distributed.exchange.message import Answered, Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import AnswerRows
from thalweg.runtime.distributed.stages import Cut
from thalweg.runtime.distributed.worker.fragment import Fragment
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.stage_plan import StagePlan
from thalweg.runtime.spark.tasks.answer_rows import QueryAnswers
from thalweg.runtime.spark.tasks.deliver import Take


def is_stateless(blueprint: Blueprint, cut: Cut, inputs: Mapping[str, InputTime]) -> bool:
    """Whether a query has no state, and none of its rows has to wait for others."""
    one_stream = len(inputs) == len(cut.ports) == 1 and all(time.lateness == 0 for time in inputs.values())
    plain = blueprint.strategy is Strategy.AUTO and is_stateless_plan(blueprint.plan)
    return one_stream and plain and bool(cut.stages) and cut.ports[0].key is None


@dataclass(frozen=True)
class StatelessQuery:
    """A query that `is_stateless`: its only stage, and the sink that takes answers in the tasks."""

    stage: StagePlan
    take: Take

    def for_part(self, batch: int, part: int, system: int) -> AnswerRows:
        """The function that answers the rows of one part."""
        return lambda rows: self._answer(rows, batch, part, system)

    def _answer(self, rows: Sequence[pa.RecordBatch], batch: int, part: int, system: int) -> Message:
        fragment, shards = Fragment(self.stage.fragment, 0), self.stage.layouts.last.shards
        parts = (self._answered(some, fragment) for some in rows if some.num_rows)
        answers = QueryAnswers(self.stage.answer_schema, self.stage.stamped)
        note = self.take(answers.rows(parts), batch, shards + part)  # parts below `shards` are those of the shards
        arrived = sum(some.num_rows for some in rows)
        answered = Answered(arrived, [metrics.counts() for metrics in fragment.pipeline.metrics], note)
        return Message(MessageKind.ANSWERED, part % shards, 0, part, BEGINNING, system, answered.packed())

    def _answered(self, rows: pa.RecordBatch, fragment: Fragment) -> AnswerPart:
        ts = rows.column(rows.num_columns - 1).to_numpy()
        port = self.stage.sources.streams[0]
        lanes = stream_lanes(rows, port.columns, port.schema, fragment.pool)
        batch = Batch.of_arrivals(lanes, ts, self.stage.fragment.dated)
        changes = fragment.process({0: batch}, int(ts.max())).answer
        assert changes is not None
        return AnswerPart(changes, self.stage.answer_schema, fragment.pool)
