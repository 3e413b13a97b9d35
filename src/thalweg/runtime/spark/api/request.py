"""A query as a user asks for it, and the choices before its first start: the plan, and the tables to broadcast.

A table is broadcast if Spark would broadcast it (`spark.sql.autoBroadcastJoinThreshold`; -1: no table), and for the
same reason: a copy for every group costs less than to send every tuple to the group of its partners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from thalweg.algebra.plan import Plan
from thalweg.kernel.pipeline import Settings, Strategy
from thalweg.kernel.pipeline.blueprint import Choice, choose
from thalweg.kernel.pipeline.partial_aggregates import PARTIAL_AGGREGATES_FROM_TICKS
from thalweg.optimizer.statistics import Statistics
from thalweg.runtime.distributed.checkpoint.query_file import PinnedChoice
from thalweg.runtime.spark.inputs import TableInput

_BYTES_PER_VALUE = 20  # the size that Spark assumes of a string
_UNKNOWN_SIZE = 1 << 62  # bytes: Spark says this or more where it knows nothing


@dataclass(frozen=True)
class QueryRequest:
    """What a user asks for: a plan as written, how to run it, and statistics of its sources."""

    plan: Plan
    strategy: Strategy
    settings: Settings
    statistics: Statistics = field(default_factory=Statistics)

    def choose(self, pinned: PinnedChoice | None = None) -> Choice:
        """The plan that is run: chosen now, or as it was `pinned` when the query first started."""
        statistics = self.statistics if pinned is None else pinned.statistics
        settings = self.settings
        if pinned is not None:
            settings = replace(settings, in_parts=pinned.in_parts)
        elif settings.in_parts is None and settings.optimize and self.strategy is Strategy.AUTO:
            settings = replace(settings, in_parts=PARTIAL_AGGREGATES_FROM_TICKS)
        return choose(self.plan, self.strategy, settings, statistics, in_shards=True)


def broadcast_tables(spark: SparkSession, tables: Sequence[TableInput]) -> frozenset[str]:
    """The names of the tables to broadcast.

    The option `broadcast` decides; without it, the size of a table that does not change. One that changes may grow.
    """
    limit = _limit(spark)
    return frozenset(t.relation.name for t in tables if _is_small(t, limit))


def _is_small(table: TableInput, limit: int) -> bool:
    if table.broadcast is not None or table.frame.isStreaming:
        return bool(table.broadcast)
    size = _known_size(table.frame)
    return size <= limit if size < _UNKNOWN_SIZE else _has_few_rows(table.frame, limit)


def _known_size(frame: DataFrame) -> int:
    """The size in bytes that Spark's optimiser assumes."""
    return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def _has_few_rows(frame: DataFrame, limit: int) -> bool:
    rows = limit // (_BYTES_PER_VALUE * max(1, len(frame.columns)))
    return limit > 0 and frame.limit(rows + 1).count() <= rows


def _limit(spark: SparkSession) -> int:
    """In bytes: the session's conf understands units, such as 10MB."""
    return int(spark._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold())
