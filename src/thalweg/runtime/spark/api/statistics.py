"""Statistics for the choice of plans: sampled from a bounded DataFrame, or measured while a query runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import StreamScan
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import DataError
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.optimizer.statistics import MeasuredOutput, Statistics
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.stages import Cut
from thalweg.runtime.spark.inputs import StreamInput, TableInput

_SUMS = [field.name for field in fields(OperatorMetrics) if field.name not in ("operator", "batches", "orders")]


def operator_totals(pipeline: Pipeline, cut: Cut, reports: Sequence[Sequence[ShardReport]]) -> list[OperatorMetrics]:
    """For each operator of the pipeline its counts in all shards; `reports` are by stage, then by shard."""
    done = [replace(metrics) for metrics in pipeline.metrics]
    first = {(port.node, port.origin): i for i, port in reversed(list(enumerate(cut.ports)))}
    for stage, shards in enumerate(reports):
        ports = [i for i, port in enumerate(cut.ports) if port.stage == stage]
        sources = [cut.ports[i].node if _is_counted(cut, i, first) else None for i in ports]
        steps = [step.node for step in cut.stages[stage].steps] if stage < len(cut.stages) else []
        for report in shards:
            if not report.operators:  # none of its groups has begun
                continue
            for node, counts in zip([*sources, *steps], report.operators, strict=True):
                if node is not None:
                    _add(done[node], counts)
    return done


def _add(total: OperatorMetrics, counts: OperatorMetrics) -> None:
    """Add the counts of one shard; its operators have seen the same batches as those of the others."""
    total.batches, total.orders = max(total.batches, counts.batches), total.orders or counts.orders
    for name in _SUMS:
        setattr(total, name, getattr(total, name) + getattr(counts, name))


def _is_counted(cut: Cut, i: int, first: Mapping[Any, int]) -> bool:
    """A source that comes in by several ports is counted at the first; what comes from operators, there."""
    port = cut.ports[i]
    return port.origin is None and first[port.node, None] == i


def runtime_statistics(pipeline: Pipeline, done: Sequence[OperatorMetrics], ticks: float) -> Statistics:
    """For the choice of the next plan: rates of streams, and of sub-plans."""
    span = max(1.0, ticks)
    rates = {plan: done[i].positive_out / span for plan, i in pipeline.places.items() if done[i].positive_out}
    streams = {
        plan.source.name: SourceStatistics(rate, origin="measured")
        for plan, rate in rates.items()
        if isinstance(plan, StreamScan)
    }
    measured = {
        digest(plan): MeasuredOutput(rate, min(1.0, done[pipeline.places[plan]].premature / (rate * span)))
        for plan, rate in rates.items()
        if not isinstance(plan, StreamScan)
    }
    return Statistics(streams, measured)


# -- samples


def sample_stream(stream: StreamInput, frame: DataFrame) -> SourceStatistics:
    """The rate is rows over the time from the first to the last; values are counted approximately."""
    _check_bounded(frame, stream.stream.name)
    stamped = stream.stream.timestamp is not None
    time = sf.col(f"`{stream.time_column}`")
    ticks = sf.unix_micros(time.cast("timestamp")) if stamped else time.cast("long")
    span = (sf.max(ticks) - sf.min(ticks)).alias("_span")
    rows, distinct, more = _counted(frame, stream.stream.schema.names, span)
    return SourceStatistics(rows / more["_span"] if more["_span"] else None, None, distinct, "sampled")


def sample_table(table: TableInput, frame: DataFrame) -> SourceStatistics:
    """The number of rows, and of distinct values."""
    _check_bounded(frame, table.relation.name)
    rows, distinct, _ = _counted(frame, table.relation.schema.names)
    return SourceStatistics(None, rows or None, distinct, "sampled")


def _counted(frame: DataFrame, names: Sequence[str], *more: Column) -> tuple[float, dict[str, float], dict[str, float]]:
    known = [name for name in names if name in frame.columns]
    values = [sf.approx_count_distinct(f"`{name}`").alias(f"_{i}") for i, name in enumerate(known)]
    found = frame.agg(sf.count("*").alias("_rows"), *values, *more).first()
    assert found is not None
    distinct = {name: float(found[f"_{i}"]) for i, name in enumerate(known) if found[f"_{i}"]}
    return float(found["_rows"]), distinct, {k: v for k, v in found.asDict().items() if k == "_span"}


def _check_bounded(frame: DataFrame, name: str) -> None:
    if frame.isStreaming:
        raise DataError(
            f"a sample of {name} is taken from a bounded DataFrame, and this one streams",
            hint="give sample() some of its rows: spark.read instead of spark.readStream",
        )
