"""Statistics of a running query on Spark, by the sub-plan whose results an operator gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.algebra.codec import digest
from thalweg.algebra.plan import StreamScan
from thalweg.algebra.statistics import SourceStatistics
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.optimizer.statistics import Measured, Statistics
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.stages import Cut


@dataclass
class OperatorTotals:
    """The counts of one operator over all shards, as `OperatorMetrics` has them."""

    positive_out: int = 0
    premature: int = 0
    stored: int = 0


def operator_totals(pipeline: Pipeline, cut: Cut, reports: Sequence[Sequence[ShardReport]]) -> list[OperatorTotals]:
    """For each operator of the pipeline its counts in all shards; `reports` are by stage, then by shard."""
    done = [OperatorTotals() for _ in pipeline.nodes]
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
                    done[node].positive_out += counts.positive_out
                    done[node].premature += counts.premature
                    done[node].stored += counts.stored
    return done


def _is_counted(cut: Cut, i: int, first: Mapping[Any, int]) -> bool:
    """A source that comes in by several ports is counted at the first; what comes from operators, there."""
    port = cut.ports[i]
    return port.origin is None and first[port.node, None] == i


def runtime_statistics(pipeline: Pipeline, done: Sequence[OperatorTotals], ticks: float) -> Statistics:
    """For the choice of the next plan: rates of streams, and of sub-plans."""
    span = max(1.0, ticks)
    rates = {plan: done[i].positive_out / span for plan, i in pipeline.places.items() if done[i].positive_out}
    streams = {
        plan.source.name: SourceStatistics(rate, origin="measured")
        for plan, rate in rates.items()
        if isinstance(plan, StreamScan)
    }
    measured = {
        digest(plan): Measured(rate, min(1.0, done[pipeline.places[plan]].premature / (rate * span)))
        for plan, rate in rates.items()
        if not isinstance(plan, StreamScan)
    }
    return Statistics(streams, measured)
