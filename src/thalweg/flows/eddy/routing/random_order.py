"""Random order: what any other policy must beat (MaddenEtAl2002 §4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Policy, SeededDraws


class RandomOrder(Policy, kind="random-policy/1"):
    """All candidates have the same chance."""

    KEPT = ("_draws",)

    def __init__(self, seed: int) -> None:
        self._draws = SeededDraws(seed)

    def choose(self, candidates: Sequence[str]) -> str:
        """A random candidate."""
        return candidates[int(self._draws.below(len(candidates)))]
