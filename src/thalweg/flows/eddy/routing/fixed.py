"""A fixed order: optimal if it is known which filters drop most (MaddenEtAl2002 §4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Policy


class Fixed(Policy, kind="fixed-policy/1"):
    """Operators in the order of a list of names; all others come last, in order of addition."""

    def __init__(self, order: Sequence[str]) -> None:
        self._rank = {name: place for place, name in enumerate(order)}

    def choose(self, candidates: Sequence[str]) -> str:
        """The first candidate in the list."""
        return min(candidates, key=lambda name: self._rank.get(name, len(self._rank)))
