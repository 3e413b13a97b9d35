"""Sources of streams on Spark: functions that return a streaming DataFrame or an `ArrowSource`, which is faster.

`Engine.stream` takes both; `ArrowSource.dataframe` returns a DataFrame. A source never drops a row. Sources that may
meet unreadable rows add two columns, BAD_ROW_COLUMNS: a bad row has its text and the reason there, and NULL in all
other columns. `split_bad_rows` separates good rows from bad ones.
"""

from thalweg.runtime.spark.sources.arrow import ArrowSource
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, split_bad_rows
from thalweg.runtime.spark.sources.directory import directory
from thalweg.runtime.spark.sources.generator import generator
from thalweg.runtime.spark.sources.lbl import lbl
from thalweg.runtime.spark.sources.parquet import parquet
from thalweg.runtime.spark.sources.replay import replay
from thalweg.runtime.spark.sources.socket import socket
from thalweg.runtime.spark.sources.zeek import zeek

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
