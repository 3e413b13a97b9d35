"""The tasks of a flow: each lets one shard take its turn, and gives what answers gained as a blob per query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import ArrayType, BinaryType, StringType, StructField, StructType

from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.distributed.exchange.blobs import BlobFiles
from thalweg.runtime.distributed.exchange.codec import from_arrow, pack, to_arrow, unpack
from thalweg.runtime.distributed.worker.flow_group import FlowPart
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.step import Place, take_turn
from thalweg.runtime.spark.tasks.answer_rows import answer_rows
from thalweg.runtime.spark.tasks.deliver import Take, handed_over
from thalweg.runtime.spark.tasks.messages import from_rows
from thalweg.runtime.spark.tasks.process import settle
from thalweg.runtime.spark.tasks.read import Mapped
from thalweg.runtime.spark.tasks.stage import whose_turn

QUERIES, GAINED = "queries", "gained"
# What queries gained: their columns differ, so they travel packed, those with equal columns together.
ANSWERS = StructType([StructField(QUERIES, ArrayType(StringType())), StructField(GAINED, BinaryType())])


@dataclass(frozen=True)
class FlowTask:
    """What a task needs to run any shard of a flow."""

    spec: FlowSpec
    checkpoint: str
    take: Take | None = None  # what is done with what is gained, if it is not for Spark
    start: str = field(default_factory=lambda: f"{time.time_ns():020d}-{uuid4().hex[:8]}")  # see `Place`

    def task(self) -> Mapped:
        """The function for `mapInArrow`: partition k is shard k."""
        return self._run

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shard, batch_id = whose_turn()
        blobs = BlobFiles(self.checkpoint)
        if shard == 0:
            blobs.forget(batch_id)
        place = Place(self.start, self.checkpoint, 0, shard)
        turn = take_turn(self.spec, place, batch_id, list(from_rows(batches, blobs)))
        settle()
        parts = [part for part in turn.parts if isinstance(part, FlowPart)]
        yield from handed_over([_gained(parts)] if parts else [], self.take, batch_id, shard)


def _gained(parts: list[FlowPart]) -> pa.RecordBatch:
    queries = pa.array([part.queries for part in parts], pa.list_(pa.string()))
    blobs = pa.array([_packed(part) for part in parts], pa.binary())
    return pa.RecordBatch.from_arrays([queries, blobs], names=[QUERIES, GAINED])


def _packed(part: FlowPart) -> bytes:
    """The tuples, and in a last column whose each is."""
    rows = to_arrow(part.batch, part.schema, part.pool)
    return bytes(pack(rows.append_column("whose", pa.array(part.whose))).to_pybytes())


def unpacking(
    query: str, schema: Schema, stamped: bool
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow` that makes rows of what one query has gained."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for queries, blob in zip(batch.column(QUERIES).to_pylist(), batch.column(GAINED), strict=True):
                told, pool = unpack(blob.as_buffer()), StringPool()
                mine = pc.equal(told.column("whose"), queries.index(query))
                gained = from_arrow(told.drop_columns(["whose"]).filter(mine), schema, pool)
                yield answer_rows(gained, schema, pool, stamped)

    return rows
