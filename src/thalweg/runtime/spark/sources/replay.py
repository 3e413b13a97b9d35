"""A bounded table as a stream: its rows in order of time, at a chosen speed or as fast as possible.

The rows are sorted once (rows of the same instant keep their order) and written to a Parquet file, from which each task
reads its ranges. The same table gives the same file, so a query can be restarted.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.time import SECOND
from thalweg.core.types import DataType
from thalweg.formats.names import places_of
from thalweg.runtime.spark.schema import from_spark, to_arrow
from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.rows import RANGE_COLUMNS, Pace, RangeLoad, RowReader, Speed

ROWS_PER_GROUP = 32_768  # in the staged Parquet file
Bounded: TypeAlias = pa.Table | DataFrame | str | Path


def replay(
    spark: SparkSession,
    data: Bounded,
    timestamp: str,
    schema: Schema,
    *,
    speed: Speed = "max",
    rows_per_batch: int = 250_000,
    partitions: int | None = None,
    staging: str | Path | None = None,
) -> ArrowSource:
    """The columns of `schema` from an Arrow table, a Parquet or CSV file, or a DataFrame, ordered by `timestamp`.

    `staging` is a folder that all workers can read; by default a temporary one, deleted when this process ends.
    """
    table = _ordered(_loaded(data, schema), timestamp, schema)
    folder = Path(staging) if staging else Path(tempfile.mkdtemp(prefix="thalweg-replay-"))
    if staging is None:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = _staged(table, folder)
    pace = Pace(table.num_rows, rows_per_batch, partitions or spark.sparkContext.defaultParallelism, speed)
    spec = json.dumps({"path": str(path), "timestamp": timestamp, "pace": asdict(pace)})
    spark.dataSource.register(ReplaySource)
    ranges = spark.readStream.format(ReplaySource.name()).option("spec", spec).load()
    return ArrowSource(ranges, schema, StagedRows(str(path)))


class ReplaySource(DataSource):
    """The Spark data source behind `replay`; the option `spec` holds the file's path and the pace."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_replay"

    def schema(self) -> str:
        """Ranges of rows."""
        return RANGE_COLUMNS

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader that assigns ranges of rows to tasks."""
        spec: dict[str, Any] = json.loads(self.options["spec"])
        return ReplayReader(spec["path"], spec["timestamp"], Pace(**spec["pace"]))


class ReplayReader(RowReader):
    """Assigns the rows of a Parquet file that is sorted by time to batches and tasks."""

    def __init__(self, path: str, timestamp: str, pace: Pace) -> None:
        super().__init__(pace)
        self._path, self._timestamp = path, timestamp
        self._times: Any = None

    def due(self, first: int, seconds: float) -> int:
        """Computed from the rows' own timestamps."""
        if self._times is None:
            (column,) = pq.read_table(self._path, columns=[self._timestamp]).columns
            self._times = column.cast(pa.int64()).to_numpy()
        if first >= len(self._times):
            return first
        return int(np.searchsorted(self._times, self._times[first] + seconds * SECOND, side="right"))


@dataclass(frozen=True)
class StagedRows(RangeLoad):
    """Loads ranges of rows of the staged file, which has row groups of ROWS_PER_GROUP."""

    path: str

    def rows(self, first: int, end: int, columns: Sequence[str]) -> pa.Table:
        """Rows `first` to `end`; only the row groups that hold them are read."""
        groups = range(first // ROWS_PER_GROUP, (end - 1) // ROWS_PER_GROUP + 1)
        with pq.ParquetFile(self.path) as file:
            table = file.read_row_groups(list(groups), columns=list(columns))
        return table.slice(first - groups.start * ROWS_PER_GROUP, end - first).select(columns)


def _loaded(data: Bounded, schema: Schema) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, DataFrame):
        from_spark(data.schema)  # raises for a column of a type that cannot be read
        return data.toArrow()
    path = Path(data)
    match path.suffix.lower():
        case ".parquet":
            return pq.read_table(path)
        case ".csv":
            types = {f.name: f.type.arrow for f in schema}
            convert = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
            try:
                return pyarrow.csv.read_csv(path, convert_options=convert)
            except pa.ArrowInvalid as error:
                raise DataError(f"cannot read {path}: {error}") from None
        case _:
            raise DataError(f"{path}: cannot tell the format from the name", candidates=(".parquet", ".csv"))


def _staged(table: pa.Table, folder: Path) -> Path:
    """Write the table to a file named by a digest of its contents; the file appears complete or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{uuid4().hex}"
    pq.write_table(table, temporary, row_group_size=ROWS_PER_GROUP)
    with temporary.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
    return temporary.rename(folder / f"{digest}.parquet")


def _ordered(table: pa.Table, timestamp: str, schema: Schema) -> pa.Table:
    if schema.find(timestamp) == []:
        raise DataError(f"there is no column {timestamp} to order by", candidates=schema.names)
    places = places_of("the table", schema, table.column_names)
    columns = [_cast(table.column(i), field) for i, field in zip(places, schema, strict=True)]
    whole = pa.Table.from_arrays(columns, schema=to_arrow(schema))
    times = whole.column(schema.find(timestamp)[0])
    if times.null_count:
        raise DataError(f"{times.null_count} rows have no time: {timestamp} must not be NULL")
    return whole.take(pc.sort_indices(pa.chunked_array([times.cast(pa.int64())])))


def _cast(column: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    wanted = to_arrow(Schema((field,))).field(0).type
    if pa.types.is_timestamp(column.type) and column.type.tz is None:
        column = column.cast(pa.timestamp("us"), safe=False).cast(wanted)  # without a time zone: UTC
    try:
        return column.cast(wanted, safe=field.type is DataType.BIGINT)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"column {field.name} wants {field.type}, the table has {column.type}") from None
