"""A standing query at a glance, the same for every engine and flow."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.standing import Quotas


class QueryState(StrEnum):
    """What a query does now."""

    CREATED = "created"  # on Spark: not started yet
    WAITING = "waiting"  # in a flow on Spark: it begins with the next batch
    RUNNING = "running"
    SUSPENDED = "suspended"  # by its flow, for the reason that `QueryInfo.reason` gives
    STOPPED = "stopped"  # on Spark: ended, or stopped; it can be started again
    FAILED = "failed"  # on Spark: ended by an error

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class QueryInfo:
    """A query: its text, its state and, in a flow, its owner, its quotas and what it has cost.

    `id` is the name, except in a flow, where names may be given again and ids are not. `since` is the clock
    (watermark) when the query was added, None if the clock had not started. `sees_all` says that a flow on Spark runs
    the query in the one place that sees all tuples.
    """

    id: str
    name: str
    cql: str
    state: QueryState
    reason: str | None = None
    since: datetime | int | None = None
    owner: str = ""
    quotas: Quotas = field(default_factory=Quotas)
    sees_all: bool = False
    metrics: QueryMetrics = field(default_factory=QueryMetrics)

    @property
    def seen(self) -> int:
        """Tuples that the query has seen, counted in flows only."""
        return self.metrics.seen

    @property
    def results(self) -> int:
        """Results that the query has given, counted in flows only."""
        return self.metrics.results

    def as_json(self) -> dict[str, Any]:
        """State and metrics, for programs."""
        about = {"id": self.id, "name": self.name, "owner": self.owner, "state": str(self.state)}
        return {**about, "reason": self.reason, **self.metrics.shown()}


@dataclass(frozen=True)
class FlowMetrics:
    """What the queries of a flow have cost together, and each of them; see docs/flows.md for each number."""

    flow: str
    now: datetime | int | None = None  # the flow's clock (watermark)
    seconds: float = 0.0
    work: float = 0.0
    saved: float = 0.0
    held: int = 0  # tuples
    queries: tuple[QueryInfo, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs; the time is text."""
        about = {"flow": self.flow, "now": None if self.now is None else str(self.now)}
        costs = {"seconds": self.seconds, "work": self.work, "saved": self.saved, "held": self.held}
        return {**about, **costs, "queries": [query.as_json() for query in self.queries]}
