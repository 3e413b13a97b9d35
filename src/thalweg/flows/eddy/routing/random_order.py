"""Random order: what any other policy must beat (MaddenEtAl2002 §4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Draws, Policy


class RandomOrder(Policy, kind="random-policy/1"):
    """Any operator that has not been visited, all alike."""

    KEPT = ("_draws",)

    def __init__(self, seed: int) -> None:
        self._draws = Draws(seed)

    def choose(self, candidates: Sequence[str]) -> str:
        """One of them."""
        return candidates[int(self._draws.below(len(candidates)))]
