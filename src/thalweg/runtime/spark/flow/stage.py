"""The tasks of a flow: each lets one shard take its turn, and gives what answers gained as a blob per query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.runtime.shards.blobs import BlobFiles
from thalweg.runtime.shards.codec import from_arrow, pack, to_arrow, unpack
from thalweg.runtime.shards.flow_spec import FlowSpec
from thalweg.runtime.shards.flow_worker import FlowPart
from thalweg.runtime.shards.turn import Place, take_turn
from thalweg.runtime.spark.parcels import from_rows
from thalweg.runtime.spark.processes import spare_the_collector
from thalweg.runtime.spark.reading import Mapped
from thalweg.runtime.spark.stage import answer_rows, whose_turn

QUERY, GAINED = "query", "gained"
# What queries gained: their columns differ, so they travel packed.
ANSWERS = StructType([StructField(QUERY, StringType()), StructField(GAINED, BinaryType())])


@dataclass(frozen=True)
class FlowTask:
    """What a task needs to run any shard of a flow."""

    spec: FlowSpec
    checkpoint: str
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
        spare_the_collector()
        parts = [part for part in turn.parts if isinstance(part, FlowPart)]
        if parts:
            gained = [pack(to_arrow(part.batch, part.schema, part.pool)).to_pybytes() for part in parts]
            yield pa.RecordBatch.from_arrays(
                [pa.array([part.query for part in parts]), pa.array(gained, pa.binary())], names=[QUERY, GAINED]
            )


def unpacking(schema: Schema, stamped: bool) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow` that makes rows of one query's blobs."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column(GAINED):
                pool = StringPool()
                yield answer_rows(from_arrow(unpack(blob.as_buffer()), schema, pool), schema, pool, stamped)

    return rows
