"""Where the changes of an answer go. Each sink takes a batch once, however often it is given.

>>> from thalweg.runtime.spark import sinks
>>> sink = sinks.TableSink(sinks.sqlite("answers.db"), "top_talkers")
"""

from thalweg.runtime.spark.sinks.base import KeepingSink, Opening, Sink, SinkContext, Sinks, TaskSink
from thalweg.runtime.spark.sinks.console import ConsoleSink
from thalweg.runtime.spark.sinks.database import Database, postgres, sqlite
from thalweg.runtime.spark.sinks.parquet import ParquetSink
from thalweg.runtime.spark.sinks.table import TableSink

__all__ = [
    "ConsoleSink", "Database", "KeepingSink", "Opening", "ParquetSink", "Sink", "Sinks", "TableSink", "TaskSink",
    "SinkContext", "postgres", "sqlite",
]  # fmt: skip
