"""Metrics of a query of a flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

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

    @staticmethod
    def together(counts: Iterable[Mapping[str, float]]) -> QueryMetrics:
        """The metrics of a query that runs in several places, from the counts of each."""
        sums: Counter[str] = Counter()
        for part in counts:
            sums.update(part)
        whole = {name: int(sums[name]) for name in ("seen", "results", "alone", "stored")}
        return QueryMetrics(seconds=float(sums["seconds"]), work=float(sums["work"]), **whole)

    def counts(self) -> dict[str, float]:
        """The numbers that can be added up over places."""
        return asdict(self)

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
