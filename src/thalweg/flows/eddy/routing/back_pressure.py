"""Back-pressure: fast operators take more tuples early, because their queues are short (MaddenEtAl2002 §4)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Policy, SeededDraws, Work

_WEIGHT_OF_PAST = 0.9  # of earlier measurements of the time per tuple


class BackPressure(Policy, kind="back-pressure-policy/1"):
    """Operators run one at a time, so nothing queues; the chance of a visit is the rate at which a queue would drain.

    That rate is one over the operator's recent time per tuple.
    """

    KEPT = ("_draws", "_costs")

    def __init__(self, seed: int) -> None:
        self._draws = SeededDraws(seed)
        self._costs: dict[str, float] = {}

    def choose(self, candidates: Sequence[str]) -> str:
        """An operator without a measurement, or one drawn by lot."""
        unknown = [name for name in candidates if name not in self._costs]
        if unknown:
            return unknown[0]
        return self._draws.lottery(candidates, [1.0 / self._costs[name] for name in candidates])

    def learn(self, work: Work) -> None:
        """Learn the time per tuple."""
        if work.tuples:
            took = max(work.seconds / work.tuples, 1e-12)
            before = self._costs.get(work.operator, took)
            self._costs[work.operator] = _WEIGHT_OF_PAST * before + (1.0 - _WEIGHT_OF_PAST) * took

    def shares(self) -> dict[str, float]:
        """Shares by speed."""
        total = sum(1.0 / cost for cost in self._costs.values())
        return {name: 1.0 / cost / total for name, cost in self._costs.items()}
