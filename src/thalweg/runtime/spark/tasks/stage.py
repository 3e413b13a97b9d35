"""The tasks that run a stage: each lets one shard take its turn."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.errors import DataError
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.worker.query_spec import QuerySpec
from thalweg.runtime.distributed.worker.step import Place, take_turn
from thalweg.runtime.spark.tasks.answer_rows import answer_rows
from thalweg.runtime.spark.tasks.deliver import Take, already_taken, handed_over
from thalweg.runtime.spark.tasks.messages import from_rows, to_rows
from thalweg.runtime.spark.tasks.process import settle
from thalweg.runtime.spark.tasks.read import BATCH_ID, Mapped


@dataclass(frozen=True)
class StageTask:
    """What a task needs to run any shard of one stage."""

    spec: QuerySpec
    stage: int
    checkpoint: str
    take: Take | None = None  # what is done with the answer's rows, if they are not for Spark
    start: str = field(default_factory=lambda: f"{time.time_ns():020d}-{uuid4().hex[:8]}")  # see `Place`

    def task(self) -> Mapped:
        """The function for `mapInArrow`: partition k is shard k."""
        return self._run

    @property
    def is_last(self) -> bool:
        """Whether it gives the answer."""
        return self.stage == self.spec.stages - 1

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shard, batch_id = whose_turn()
        place = Place(self.start, self.checkpoint, self.stage, shard)
        blobs = BlobFiles(self.checkpoint)
        if self.stage == 0 and shard == 0:
            blobs.forget(batch_id)
        sent = list(from_rows(batches, blobs))
        turn = take_turn(self.spec, place, batch_id, sent)
        settle()
        if not self.is_last:
            yield to_rows(turn.parcels, blobs, batch_id)
            return
        schema, stamped = self.spec.blueprint.plan.schema, self.spec.stamped
        answer = (answer_rows(part.batch, schema, part.pool, stamped) for part in turn.parts)
        yield from handed_over(answer, self.take, batch_id, shard)
        yield from already_taken(sent)


def whose_turn() -> tuple[int, int]:
    """The shard and the micro-batch of the task at work."""
    context = TaskContext.get()
    batch_id = None if context is None else context.getLocalProperty(BATCH_ID)
    if context is None or batch_id is None:
        raise DataError(
            "the changes of a query were asked for outside of its micro-batches",
            hint="give the query a sink, or read what its sink has written",
        )
    return context.partitionId(), int(batch_id)
