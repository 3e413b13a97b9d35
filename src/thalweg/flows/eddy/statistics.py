"""Statistics of an eddy's operators."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.flows.eddy.routing.policy import Work
from thalweg.kernel.state.snapshot import Stateful


@dataclass(frozen=True)
class OperatorStatistics:
    """A grouped filter or a SteM: its visitors, and the (tuple, query) pairs it received and returned."""

    operator: str
    tuples: int
    given: int
    returned: int
    seconds: float
    share: float  # of the tickets, or of the policy's other weights

    @property
    def selectivity(self) -> float:
        """Returned pairs per received pair; above 1 where a SteM finds several partners."""
        return self.returned / self.given if self.given else 1.0

    @property
    def cost(self) -> float:
        """Seconds per tuple."""
        return self.seconds / self.tuples if self.tuples else 0.0


@dataclass(frozen=True)
class EddyStatistics:
    """All operators, the number of tuples, their visits, and the visits they would make without lineage."""

    operators: tuple[OperatorStatistics, ...]
    tuples: int
    visits: int
    possible: int

    @property
    def saved(self) -> float:
        """The share of visits to grouped filters that lineage has saved."""
        return 1.0 - self.visits / self.possible if self.possible else 0.0


class RoutingCounts(Stateful, kind="routing-statistics/1"):
    """Counts of one source's operators. Seconds are those of this process; snapshots do not hold them."""

    KEPT = ("tuples", "visits", "possible", "_counts")

    def __init__(self) -> None:
        self.tuples = 0
        self.visits = 0
        self.possible = 0
        self._counts: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def begin(self, tuples: int, operators: int) -> None:
        """Count arrivals, each of which could visit this many operators."""
        self.tuples += tuples
        self.possible += tuples * operators

    def add(self, work: Work) -> None:
        """Count the work of an operator."""
        self.visits += work.tuples
        sums = self._counts.setdefault(work.operator, [0, 0, 0])
        for place, value in enumerate((work.tuples, work.given, work.returned)):
            sums[place] += value
        self._seconds[work.operator] = self._seconds.get(work.operator, 0.0) + work.seconds

    def operators(self, shares: dict[str, float]) -> list[OperatorStatistics]:
        """The counts by operator."""
        return [
            OperatorStatistics(name, tuples, given, returned, self._seconds.get(name, 0.0), shares.get(name, 0.0))
            for name, (tuples, given, returned) in self._counts.items()
        ]
