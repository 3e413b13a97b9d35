"""The report that a shard saves with its state, and what is shown to people of the reports of all shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from thalweg.core.python_values import show_instant
from thalweg.core.time import BEGINNING, Clock, Instant
from thalweg.flows.command import Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.query_info import FlowMetrics, QueryInfo, QueryState
from thalweg.flows.standing import Quotas
from thalweg.kernel.pipeline.metrics import OperatorMetrics

LATE, BAD_ROWS = "late", "bad"  # kinds of side outputs


class SideOutput(NamedTuple):
    """Rows of a source that did not become tuples of the query."""

    kind: str  # LATE or BAD_ROWS
    source: str

    def __str__(self) -> str:
        return f"{self.kind} {self.source}"

    @staticmethod
    def read(name: str) -> SideOutput:
        """The inverse of `str`."""
        kind, _, source = name.partition(" ")
        return SideOutput(kind, source)


def named_counts(counts: Mapping[SideOutput, int]) -> dict[str, int]:
    """Counts of side outputs for JSON and for snapshots, by name: "late s"."""
    return {str(output): count for output, count in counts.items()}


def read_counts(counts: Mapping[str, int]) -> dict[SideOutput, int]:
    """The inverse of `named_counts`."""
    return {SideOutput.read(name): count for name, count in counts.items()}


@dataclass(frozen=True)
class FlowReport:
    """The part of a report that only a flow has."""

    last_command: int  # the number of the last command that the shard has obeyed
    queries: int
    suspended: Mapping[str, str]  # by suspended query, the reason
    counts: Mapping[str, QueryMetrics]  # by query

    def to_json(self) -> dict[str, Any]:
        """The flow's part of `ShardReport.to_json`."""
        return {**vars(self), "counts": {query: metrics.counts() for query, metrics in self.counts.items()}}

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> FlowReport:
        """The inverse of `to_json`."""
        counts = {query: QueryMetrics(**numbers) for query, numbers in tree["counts"].items()}
        return FlowReport(**{**tree, "counts": counts})


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
    side_outputs: Mapping[SideOutput, int] = field(default_factory=dict)  # rows so far
    operators: tuple[OperatorMetrics, ...] = ()  # of all groups together
    flow: FlowReport | None = None

    @property
    def clock(self) -> Clock:
        """What a tick means."""
        return Clock.TIMESTAMPS if self.stamped else Clock.TICKS

    def to_json(self) -> dict[str, Any]:
        """For manifests, and for programs that read `thalweg state --json`."""
        operators = [vars(metrics) for metrics in self.operators]
        tree = {**vars(self), "side_outputs": named_counts(self.side_outputs), "operators": operators}
        if self.flow is None:
            del tree["flow"]
        else:
            tree["flow"] = self.flow.to_json()
        return tree

    @staticmethod
    def from_json(tree: Mapping[str, Any]) -> ShardReport:
        """The inverse of `to_json`."""
        side_outputs = read_counts(tree["side_outputs"])
        operators = tuple(OperatorMetrics(**metrics) for metrics in tree["operators"])
        flow = FlowReport.from_json(tree["flow"]) if "flow" in tree else None
        typed = {"side_outputs": side_outputs, "operators": operators, "flow": flow}
        return ShardReport(**{**tree, "groups": tuple(tree["groups"]), **typed})


def side_output_counts(reports: Iterable[ShardReport]) -> dict[SideOutput, int]:
    """Rows in the side outputs of all shards."""
    counts: Counter[SideOutput] = Counter()
    for report in reports:
        counts.update(report.side_outputs)
    return dict(counts)


# -- flows


def suspended_queries(reports: Iterable[ShardReport]) -> dict[str, str]:
    """By query that has failed in any shard, the reason."""
    return {query: why for flow in _flows(reports) for query, why in flow.suspended.items()}


def flow_queries(live: Mapping[str, Command], reports: Sequence[ShardReport]) -> list[QueryInfo]:
    """The queries of a flow, whether they run, wait for the next batch or are suspended, and their costs."""
    flows, failed = _flows(reports), suspended_queries(reports)
    obeyed = min((flow.last_command for flow in flows), default=-1)
    return [_query_info(command, obeyed, failed, flows) for command in live.values()]


def _query_info(command: Command, obeyed: int, failed: Mapping[str, str], flows: Sequence[FlowReport]) -> QueryInfo:
    state = QueryState.RUNNING if command.seq <= obeyed else QueryState.WAITING
    return QueryInfo(
        command.id, command.name, command.cql,
        state=QueryState.SUSPENDED if command.id in failed else state, reason=failed.get(command.id),
        owner=command.owner, quotas=Quotas.read(dict(command.quotas)), sees_all=command.whole,
        metrics=sum((flow.counts[command.id] for flow in flows if command.id in flow.counts), QueryMetrics()),
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
