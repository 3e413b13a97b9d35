"""What a shard reports about itself with its state, and what people see of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thalweg.core.time import Clock, Instant
from thalweg.flows.command import Command
from thalweg.flows.metrics import QueryMetrics
from thalweg.kernel.pipeline.metrics import OperatorMetrics

RUNNING, WAITING, SUSPENDED = "running", "waiting", "suspended"


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


def query_states(live: Mapping[str, Command], reports: Sequence[ShardReport]) -> dict[str, tuple[str, str | None]]:
    """By query of a flow whether it runs, waits for the next batch, or was suspended and why."""
    obeyed = min((flow.last_command for flow in _flows(reports)), default=-1)
    failed = suspended_queries(reports)
    found: dict[str, tuple[str, str | None]] = {}
    for query, command in live.items():
        state = RUNNING if command.seq <= obeyed else WAITING
        found[query] = (SUSPENDED, failed[query]) if query in failed else (state, None)
    return found


def query_metrics(live: Mapping[str, Command], reports: Sequence[ShardReport]) -> dict[str, QueryMetrics]:
    """By query of a flow: its metrics in all shards."""
    flows = _flows(reports)
    return {query: QueryMetrics.together(query, [flow.counts.get(query, {}) for flow in flows]) for query in live}


def flow_top(name: str, live: Mapping[str, Command], reports: Sequence[ShardReport]) -> dict[str, Any]:
    """The metrics of a flow and its queries, as `Flow.top` of a session gives them."""
    counted, state = query_metrics(live, reports), query_states(live, reports)
    work, alone = sum(m.work for m in counted.values()), sum(m.alone for m in counted.values())
    clock = Clock.TIMESTAMPS if any(report.stamped for report in reports) else Clock.TICKS
    now = min((report.now for report in reports), default=None)
    return {
        "flow": name,
        "now": None if now is None else clock.show(now),
        "seconds": sum(m.seconds for m in counted.values()),
        "work": work,
        "saved": 1 - work / alone if alone else 0.0,
        "held": sum(report.stored for report in reports),
        "queries": [
            {"id": query, "name": command.name, "owner": command.owner, "state": state[query][0]}
            | {"reason": state[query][1], **counted[query].shown()}
            for query, command in live.items()
        ],
    }


def _flows(reports: Iterable[ShardReport]) -> list[FlowReport]:
    return [report.flow for report in reports if report.flow is not None]
