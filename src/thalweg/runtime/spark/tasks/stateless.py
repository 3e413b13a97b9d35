"""A query that remembers nothing is answered where its rows are read: they need not be sent anywhere.

A row's answers depend on the row alone, and its time has come when it comes, for there is one stream, and none of its
rows waits for others that may be late. So the task that reads rows computes their answers and hands them over. Shards
get what has been counted, the notes, the time, and the rows that are too late.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.shape import remembers_nothing
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.runtime.distributed.exchange.codec import brought
from thalweg.runtime.distributed.exchange.message import DONE, Parcel
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.stream_reader import Answering
from thalweg.runtime.distributed.stages import Cut
from thalweg.runtime.distributed.worker.fragment import Fragment
from thalweg.runtime.distributed.worker.query_spec import QuerySpec
from thalweg.runtime.spark.tasks.answer_rows import answer_rows
from thalweg.runtime.spark.tasks.deliver import Take


@dataclass(frozen=True)
class AtOnce:
    """Made for queries of which it `is_possible`, with what takes their answers in the tasks."""

    spec: QuerySpec
    take: Take

    @staticmethod
    def is_possible(blueprint: Blueprint, cut: Cut, inputs: Mapping[str, InputTime]) -> bool:
        """Whether nothing is remembered, and no row waits."""
        one_stream = len(inputs) == len(cut.ports) == 1 and all(time.lateness == 0 for time in inputs.values())
        plain = blueprint.strategy is Strategy.AUTO and remembers_nothing(blueprint.plan)
        return one_stream and plain and bool(cut.stages) and cut.ports[0].key is None

    def for_part(self, batch: int, part: int, system: int) -> Answering:
        """What hands over the answers of a part's rows."""
        return lambda rows: self._handed_over(rows, batch, part, system)

    def _handed_over(self, rows: Sequence[pa.RecordBatch], batch: int, part: int, system: int) -> Parcel:
        fragment = Fragment(self.spec.blueprint, self.spec.cut, 0, 0)
        answers = (self._answered(some, fragment) for some in rows if some.num_rows)
        note = self.take(answers, batch, self.spec.shards + part)  # the first parts are the shards' own
        told = {
            "arrived": sum(some.num_rows for some in rows),
            "operators": [metrics.counts() for metrics in fragment.pipeline.metrics],
            "note": note,
        }
        return Parcel(part % self.spec.shards, DONE, part, BEGINNING, system, json.dumps(told).encode())

    def _answered(self, rows: pa.RecordBatch, fragment: Fragment) -> pa.RecordBatch:
        (name,) = self.spec.inputs
        ts = rows.column(rows.num_columns - 1).to_numpy()
        lanes = brought(rows, self.spec.needed[name], fragment.ports[0], fragment.pool)
        gained = fragment.process({0: Batch.of_arrivals(lanes, ts, fragment.dated)}, int(ts.max())).answer
        assert gained is not None
        return answer_rows(gained, self.spec.blueprint.plan.schema, fragment.pool, self.spec.stamped)
