"""What a shard reports about itself with its state, and what people see of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from thalweg.core.python_values import show_instant
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.flows.command import Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.query_info import FlowMetrics, QueryInfo, QueryState
from thalweg.flows.standing import Quotas
from thalweg.kernel.pipeline.metrics import OperatorMetrics


@dataclass(frozen=True)
class FlowReport:
    """The part of a report that only a flow has."""

    last_command: int  # the number of the last command that the shard has obeyed
    queries: int
    suspended: Mapping[str, str]  # by query that runs no more: why
    counts: Mapping[str, Mapping[str, float]]  # by query, as `QueryMetrics.counts` has them


@dataclass(frozen=True)
class ShardReport:
    """A shard of one stage after a batch."""

    now: Instant  # the query's clock
    began: Instant | None = None  # the first time that the clock showed
    latest: Instant | None = None  # the greatest time of a tuple so far
    stamped: bool = False  # instants are timestamps
    groups: tuple[int, ...] = ()  # the groups that have begun
    arrived: int = 0  # rows of streams in the last batch
    waiting: int = 0  # tuples ahead of the clock
    stored: int = 0  # tuples that operators hold
    side_outputs: Mapping[str, int] = field(default_factory=dict)  # rows so far, by kind and source: "late s"
    operators: tuple[OperatorMetrics, ...] = ()  # of all groups together
    flow: FlowReport | None = None

    @property
    def clock(self) -> Clock:
        """What a tick means."""
        return Clock.TIMESTAMPS if self.stamped else Clock.TICKS

    def to_json(self) -> dict[str, Any]:
        """For manifests, and for programs that read `thalweg state --json`."""
        tree = {**vars(self), "operators": [vars(metrics) for metrics in self.operators]}
        if self.flow is None:
            del tree["flow"]
        else:
            tree["flow"] = vars(self.flow)
        return tree

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> ShardReport:
        """The report that `to_json` was called of."""
        operators = tuple(OperatorMetrics(**metrics) for metrics in tree["operators"])
        flow = FlowReport(**tree["flow"]) if "flow" in tree else None
        return ShardReport(**{**tree, "groups": tuple(tree["groups"]), "operators": operators, "flow": flow})


def side_output_counts(reports: Iterable[ShardReport]) -> dict[str, int]:
    """Rows in side outputs of all shards, by kind and source."""
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report.side_outputs)
    return dict(counts)


# -- flows


def suspended_queries(reports: Iterable[ShardReport]) -> dict[str, str]:
    """By query that has failed in a shard: why."""
    return {query: why for flow in _flows(reports) for query, why in flow.suspended.items()}


def flow_queries(live: Mapping[str, Command], reports: Sequence[ShardReport]) -> list[QueryInfo]:
    """The queries of a flow: they run, wait for the next batch, or were suspended; and what they cost in all shards."""
    flows, failed = _flows(reports), suspended_queries(reports)
    obeyed = min((flow.last_command for flow in flows), default=-1)
    return [_query_info(command, obeyed, failed, flows) for command in live.values()]


def _query_info(command: Command, obeyed: int, failed: Mapping[str, str], flows: Sequence[FlowReport]) -> QueryInfo:
    state = QueryState.RUNNING if command.seq <= obeyed else QueryState.WAITING
    return QueryInfo(
        command.id, command.name, command.cql,
        state=QueryState.SUSPENDED if command.id in failed else state, reason=failed.get(command.id),
        owner=command.owner, quotas=Quotas.read(dict(command.quotas)), sees_all=command.whole,
        metrics=QueryMetrics.together([flow.counts.get(command.id, {}) for flow in flows]),
    )  # fmt: skip


def flow_now(reports: Sequence[ShardReport]) -> datetime | int | None:
    """The flow's clock (watermark): that of the slowest shard; None before it has started."""
    slowest = min(reports, key=lambda report: report.now, default=None)
    return None if slowest is None or slowest.now <= BEGINNING else show_instant(slowest.clock, slowest.now)


def flow_metrics(name: str, live: Mapping[str, Command], reports: Sequence[ShardReport]) -> FlowMetrics:
    """The metrics of a flow and its queries in all shards."""
    found = flow_queries(live, reports)
    work, alone = sum(query.metrics.work for query in found), sum(query.metrics.alone for query in found)
    seconds, held = sum(query.metrics.seconds for query in found), sum(report.stored for report in reports)
    return FlowMetrics(name, flow_now(reports), seconds, work, 1 - work / alone if alone else 0.0, held, tuple(found))


def _flows(reports: Iterable[ShardReport]) -> list[FlowReport]:
    return [report.flow for report in reports if report.flow is not None]
