"""Sources of streams on Spark: functions that return a streaming DataFrame or an `ArrowSource`, which is faster.

`Engine.stream` takes both; `ArrowSource.dataframe` returns a DataFrame. A source never drops a row. Sources that may
meet unreadable rows add two columns, BAD_ROW_COLUMNS: a bad row has its text and the reason there, and NULL in all
other columns. `split_bad_rows` separates good rows from bad ones.
"""

from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, split_bad_rows
from thalweg.runtime.spark.sources.generator import generator
from thalweg.runtime.spark.sources.logs import lbl, zeek
from thalweg.runtime.spark.sources.parquet import parquet
from thalweg.runtime.spark.sources.replay import replay
from thalweg.runtime.spark.sources.spark_readers import directory, socket

__all__ = [
    "BAD_ROW_COLUMNS",
    "ArrowSource",
    "directory",
    "generator",
    "lbl",
    "parquet",
    "replay",
    "socket",
    "split_bad_rows",
    "zeek",
]
