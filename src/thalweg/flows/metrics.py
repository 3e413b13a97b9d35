"""Metrics of a query of a flow."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.flows.common_plans import Usage


@dataclass(frozen=True)
class QueryMetrics:
    """What a query has received, emitted and cost since it was added."""

    seen: int = 0
    results: int = 0
    seconds: float = 0.0  # its share of the time spent
    work: float = 0.0  # its share of the tuples that operators received
    alone: int = 0  # the tuples that operators would have received for this query alone
    stored: int = 0  # tuples stored for it, shared ones included

    @staticmethod
    def of(usage: Usage, results: int, stored: int) -> QueryMetrics:
        """The metrics of a query from its usage and counts."""
        return QueryMetrics(usage.seen, results, usage.seconds, usage.part, usage.alone, stored)

    def __add__(self, other: QueryMetrics) -> QueryMetrics:
        """The metrics of a query that runs in two places."""
        return QueryMetrics(
            self.seen + other.seen,
            self.results + other.results,
            self.seconds + other.seconds,
            self.work + other.work,
            self.alone + other.alone,
            self.stored + other.stored,
        )

    def counts(self) -> dict[str, float]:
        """The numbers by name, for JSON."""
        return dict(vars(self))

    def shown(self) -> dict[str, float]:
        """For people: the numbers, with shares in place of `alone`."""
        shares = {"selectivity": self.selectivity, "saved": self.saved}
        return {**{name: number for name, number in self.counts().items() if name != "alone"}, **shares}

    @property
    def selectivity(self) -> float:
        """Results for each tuple received."""
        return self.results / self.seen if self.seen else 0.0

    @property
    def saved(self) -> float:
        """The share of its work alone that sharing has saved."""
        return 1 - self.work / self.alone if self.alone else 0.0
