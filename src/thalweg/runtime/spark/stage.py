"""The tasks that run a stage: a shard takes up its state, does one batch, and puts the state down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from thalweg.core.batch import Batch
from thalweg.core.lanes import from_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import DataType
from thalweg.runtime.shards.store import ShardStore, shard_folder
from thalweg.runtime.shards.worker import QuerySpec, ShardWorker
from thalweg.runtime.spark.parcels import from_rows, to_rows
from thalweg.runtime.spark.reading import BATCH_ID, Mapped

TS, EXP, SIGN = "_ts", "_exp", "_sign"

# Shards that this process has run, with the batch that they have done. A shard is taken out while it works, so that a
# task that fails leaves nothing half done behind.
_at_rest: dict[tuple[str, int, int], tuple[int, ShardWorker, ShardStore]] = {}


@dataclass(frozen=True)
class StageTask:
    """What a task needs to run any shard of one stage."""

    spec: QuerySpec
    stage: int
    checkpoint: str

    def task(self) -> Mapped:
        """The function for `mapInArrow`: partition k is shard k."""
        return self._run

    @property
    def is_last(self) -> bool:
        """Whether it gives the answer."""
        return self.stage == self.spec.stages - 1

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        shard, batch_id = context.partitionId(), int(context.getLocalProperty(BATCH_ID) or 0)
        parcels = list(from_rows(batches))
        key = (self.checkpoint, self.stage, shard)
        worker, store = self._take_up(key, batch_id)
        out, answer = worker.run(parcels)
        store.save(batch_id, worker.snapshot(), worker.about())
        worker.aside.write(Path(self.checkpoint), batch_id, shard)
        _at_rest[key] = (batch_id, worker, store)
        if not self.is_last:
            yield to_rows(out)
        elif answer is not None:
            yield answer_rows(answer, self.spec.blueprint.plan.schema, worker.pool, self.spec.stamped)

    def _take_up(self, key: tuple[str, int, int], batch_id: int) -> tuple[ShardWorker, ShardStore]:
        """The shard as the batch before left it, from this process's memory or from its files."""
        done, worker, store = _at_rest.pop(key, (None, None, None))
        if done == batch_id - 1 and worker is not None and store is not None:
            return worker, store
        _, stage, shard = key
        worker, store = ShardWorker(self.spec, stage, shard), ShardStore(shard_folder(self.checkpoint, stage, shard))
        if batch_id > 0:
            worker.restore(store.load(batch_id - 1))
        return worker, store


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
