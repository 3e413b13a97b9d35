"""What a query of a flow has done, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.planner.shared import Usage


@dataclass(frozen=True)
class QueryMetrics:
    """What a query has seen, given and cost since it was added. Selectivity is results by tuple seen."""

    id: str
    seen: int
    results: int
    selectivity: float
    seconds: float  # its part of the time spent
    work: float  # its part of the tuples that operators have taken in
    saved: float  # the share of work that it would have cost alone and others have shared
    stored: int  # tuples held for it, also those held for others too

    @staticmethod
    def of(query: str, usage: Usage, results: int, stored: int) -> QueryMetrics:
        """From what is counted."""
        selectivity = results / usage.seen if usage.seen else 0.0
        return QueryMetrics(query, usage.seen, results, selectivity, usage.seconds, usage.part, usage.saved, stored)
