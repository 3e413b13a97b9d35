"""Reads the rows of a stream up to an instant from its source again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from thalweg.core.time import Instant
from thalweg.runtime.distributed.ingest.routing import REASON, TIME
from thalweg.runtime.spark.inputs import StreamInput

_NUMBER = "_number"


class Reread:
    """Reads as far as needed; rows that were read are kept as Parquet files, one per micro-batch."""

    def __init__(self, spark: SparkSession, stream: StreamInput, folder: Path) -> None:
        self._spark, self._stream, self._folder = spark, stream, folder

    def rows(self, t: Instant, late: list[dict[str, Any]]) -> pa.Table:
        """The tuples up to t in order of arrival as c0, c1, ..., ts_ and their number as exp_; without late ones."""
        table = self._read()
        while True:
            times = table.column(TIME)
            if len(times) and pc.max(times).as_py() > t + self._stream.time.lateness:
                break
            self._read_on()
            more = self._read()
            if more.num_rows == table.num_rows:
                break
            table = more
        table = _without(table.filter(pc.less_equal(table.column(TIME), int(t))), late)
        own = [f"c{i}" for i in range(len(self._stream.stream.schema))]
        numbers = pa.array(np.arange(table.num_rows))
        columns = [*table.columns[: len(own)], table.column(TIME), numbers]
        return pa.table(columns, names=[*own, "ts_", "exp_"])

    def _read(self) -> pa.Table:
        paths = sorted(self._folder.glob("batch-*"), key=lambda path: int(path.name.split("-")[1]))
        if not paths:
            self._read_on()
            paths = sorted(self._folder.glob("batch-*"))
        tables = [pq.read_table(path).sort_by(_NUMBER) for path in paths]
        return pa.concat_tables(tables) if tables else self._nothing()

    def _read_on(self) -> None:
        """Read all available rows, or the next batch of an endless stream."""
        rows = self._stream.rows(range(len(self._stream.stream.schema)))
        if self._stream.stream.timestamp is not None:
            rows = rows.withColumn(TIME, sf.unix_micros(TIME))
        good = rows.where(sf.col(TIME).isNotNull())
        if REASON in rows.columns:
            good = good.where(sf.col(REASON).isNull())
        names = [f"`{name}`" for name in self._stream.stream.schema.names]
        writer = good.select(*names, TIME).writeStream.foreachBatch(self._keep).trigger(availableNow=True)
        writer.option("checkpointLocation", str(self._folder / "spark")).start().awaitTermination()

    def _keep(self, rows: DataFrame, batch: int) -> None:
        numbered = rows.withColumn(_NUMBER, sf.monotonically_increasing_id())
        numbered.write.mode("overwrite").parquet(str(self._folder / f"batch-{batch}"))

    def _nothing(self) -> pa.Table:
        empty = [pa.array([], pa.int64())] * (len(self._stream.stream.schema) + 2)
        return pa.table(empty, names=[*self._stream.stream.schema.names, TIME, _NUMBER])


def _without(table: pa.Table, late: list[dict[str, Any]]) -> pa.Table:
    """Remove late rows, one for each; of equal rows any is removed."""
    if not late:
        return table
    # Late rows may have been kept only in the columns that the query reads; the others make no difference.
    names = [name for name in table.column_names[:-1] if any(row[name] is not None for row in late)]
    left = Counter(tuple(_plain(row[name]) for name in names) for row in late)
    candidates = np.flatnonzero(pc.is_in(table.column(TIME), pa.array([row[TIME] for row in late])).to_numpy())
    dropped = np.zeros(table.num_rows, dtype=bool)
    for place, row in zip(candidates.tolist(), table.select(names).take(candidates).to_pylist(), strict=True):
        key = tuple(_plain(row[name]) for name in names)
        if left[key] > 0:
            left[key] -= 1
            dropped[place] = True
    return table.filter(pa.array(~dropped))


def _plain(value: Any) -> Any:
    """Times without a zone, so that they compare."""
    return value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value
