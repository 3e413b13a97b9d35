"""Sinks for the changes of an answer. A batch that is sent again has no further effect.

>>> from thalweg.runtime.spark import sinks
>>> sink = sinks.TableSink(sinks.sqlite("answers.db"), "top_talkers")
"""

from thalweg.runtime.distributed.ingest.quota import Quota
from thalweg.runtime.spark.sinks.base import KeepingSink, Opening, Sink, SinkContext, Sinks, TaskSink
from thalweg.runtime.spark.sinks.console import ConsoleSink
from thalweg.runtime.spark.sinks.database import Database, postgres, sqlite
from thalweg.runtime.spark.sinks.parquet import ParquetSink
from thalweg.runtime.spark.sinks.retry import NO_RETRY, Retry
from thalweg.runtime.spark.sinks.table import TableSink

__all__ = [
    "NO_RETRY", "ConsoleSink", "Database", "KeepingSink", "Opening", "ParquetSink", "Quota", "Retry", "Sink",
    "SinkContext", "Sinks", "TableSink", "TaskSink", "postgres", "sqlite",
]  # fmt: skip
