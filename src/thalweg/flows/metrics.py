"""What a query of a flow has done, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from thalweg.flows.common_plans import Usage


@dataclass(frozen=True)
class QueryMetrics:
    """What a query has seen, given and cost since it was added."""

    id: str
    seen: int
    results: int
    seconds: float  # its part of the time spent
    work: float  # its part of the tuples that operators have taken in
    alone: int  # the tuples that operators would have taken in for it alone
    stored: int  # tuples held for it, also those held for others too

    @staticmethod
    def of(query: str, usage: Usage, results: int, stored: int) -> QueryMetrics:
        """From what is counted."""
        return QueryMetrics(query, usage.seen, results, usage.seconds, usage.part, usage.alone, stored)

    @staticmethod
    def together(query: str, counts: Iterable[Mapping[str, float]]) -> QueryMetrics:
        """Of a query that runs in several places, from what was counted in each."""
        sums: Counter[str] = Counter()
        for part in counts:
            sums.update(part)
        whole = {name: int(sums[name]) for name in ("seen", "results", "alone", "stored")}
        return QueryMetrics(query, seconds=float(sums["seconds"]), work=float(sums["work"]), **whole)

    def counts(self) -> dict[str, float]:
        """What can be added up over places."""
        return {name: number for name, number in asdict(self).items() if name != "id"}

    def told(self) -> dict[str, float]:
        """For people: shares in place of what they are made of."""
        shares = {"selectivity": self.selectivity, "saved": self.saved}
        return {**{name: number for name, number in self.counts().items() if name != "alone"}, **shares}

    @property
    def selectivity(self) -> float:
        """Results by tuple seen."""
        return self.results / self.seen if self.seen else 0.0

    @property
    def saved(self) -> float:
        """The share of work that it would have cost alone and others have shared."""
        return 1 - self.work / self.alone if self.alone else 0.0
