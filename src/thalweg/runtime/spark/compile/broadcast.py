"""The tables that are small enough for every group of keys to get a copy: streams that join them need no exchange.

Spark's own limit decides, `spark.sql.autoBroadcastJoinThreshold` (-1: none is), and for the same reason: a copy costs
less than sending every tuple to its partners.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from thalweg.runtime.spark.api.inputs import TableInput

_BYTES_PER_VALUE = 20  # what Spark assumes of a string
_UNKNOWN = 1 << 62  # where Spark knows nothing, it says about the largest number there is


def broadcast_tables(spark: SparkSession, tables: Sequence[TableInput]) -> frozenset[str]:
    """The names of those to copy: the option `broadcast` counts first, and a table that changes may grow."""
    limit = _limit(spark)
    return frozenset(t.relation.name for t in tables if _is_small(t, limit))


def _is_small(table: TableInput, limit: int) -> bool:
    if table.broadcast is not None or table.frame.isStreaming:
        return bool(table.broadcast)
    size = _known_size(table.frame)
    return size <= limit if size < _UNKNOWN else _has_few_rows(table.frame, limit)


def _known_size(frame: DataFrame) -> int:
    """In bytes, as Spark's optimiser has it."""
    return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def _has_few_rows(frame: DataFrame, limit: int) -> bool:
    rows = limit // (_BYTES_PER_VALUE * max(1, len(frame.columns)))
    return limit > 0 and frame.limit(rows + 1).count() <= rows


def _limit(spark: SparkSession) -> int:
    """Spark gives a number of bytes, perhaps with its unit."""
    return int(spark._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold())
