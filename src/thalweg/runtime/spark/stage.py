"""The tasks that run a stage: each lets one shard take its turn."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.batch import Batch
from thalweg.core.errors import DataError
from thalweg.core.lanes import from_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import DataType
from thalweg.runtime.shards.blobs import BlobFiles
from thalweg.runtime.shards.spec import QuerySpec
from thalweg.runtime.shards.turn import Place, take_turn
from thalweg.runtime.spark.parcels import from_rows, to_rows
from thalweg.runtime.spark.processes import settle
from thalweg.runtime.spark.reading import BATCH_ID, Mapped
from thalweg.runtime.spark.taking import Take, handed_over

TS, EXP, SIGN = "_ts", "_exp", "_sign"


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
        turn = take_turn(self.spec, place, batch_id, list(from_rows(batches, blobs)))
        settle()
        if not self.is_last:
            yield to_rows(turn.parcels, blobs, batch_id)
            return
        schema, stamped = self.spec.blueprint.plan.schema, self.spec.stamped
        answer = (answer_rows(part.batch, schema, part.pool, stamped) for part in turn.parts)
        yield from handed_over(answer, self.take, batch_id, shard)


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


def answer_rows(batch: Batch, schema: Schema, pool: StringPool, stamped: bool) -> pa.RecordBatch:
    """Part of the answer as rows: the columns, from when (NULL: ever since), until when (NULL: not known), the sign."""
    columns = [_as_spark(from_lane(lane, f.type, pool), f.type) for lane, f in zip(batch.columns, schema, strict=True)]
    ts = pa.array(batch.start, mask=batch.start < BEGINNING + 1)
    exp = pa.array(batch.end, mask=batch.end >= FOREVER)
    if stamped:
        ts, exp = (_as_spark(time.cast(pa.timestamp("us")), DataType.TIMESTAMP) for time in (ts, exp))
    names = [*unique_names(schema), TS, EXP, SIGN]
    return pa.RecordBatch.from_arrays([*columns, ts, exp, pa.array(batch.sign)], names=names)


def unique_names(schema: Schema) -> list[str]:
    """The columns' names; where two are the same the second gets a number."""
    names: list[str] = []
    for name in schema.names:
        candidate, number = name, 2
        while candidate.casefold() in map(str.casefold, names):
            candidate, number = f"{name}_{number}", number + 1
        names.append(candidate)
    return names


def _as_spark(array: pa.Array, type_: DataType) -> pa.Array:
    return array.cast(pa.timestamp("us", "UTC")) if type_ is DataType.TIMESTAMP else array
