"""What a routing policy is told, and what it is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.kernel.state.snapshot import Stateful

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Work:
    """What an operator has done with a chunk.

    `given` counts (tuple, query) pairs that were to be decided, `returned` those that are alive afterwards: a SteM may
    return more than it was given. `gone` counts the pairs of tuples that did not come back from a filter, because no
    query wants them any more; None for a SteM, from which other tuples come back than went in.
    """

    operator: str
    tuples: int
    given: int
    returned: int
    seconds: float
    gone: int | None = None


class Policy(Stateful, ABC):
    """Decides for one source's tuples. No answer depends on what it says."""

    def begin(self, tuples: int) -> None:
        """A new chunk of tuples has come."""

    @abstractmethod
    def choose(self, candidates: Sequence[str]) -> str:
        """The operator to visit next, of those that a chunk has not visited."""

    def told(self, work: Work) -> None:
        """Learn from what an operator has done."""

    def shares(self) -> dict[str, float]:
        """By operator the share of whatever it wins visits with; none if visits are not won."""
        return {}


class Draws(Stateful, kind="random-draws/1"):
    """Random numbers that follow from a seed, and that a snapshot can go on with (the splitmix generator)."""

    KEPT = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & (_MASK >> 1)

    def below(self, limit: float) -> float:
        """A number from 0 up to a limit, which is left out."""
        self._state = (self._state + 0x1E3779B97F4A7C15) & (_MASK >> 1)
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53) * limit

    def lottery(self, candidates: Sequence[str], tickets: Sequence[float]) -> str:
        """One of the candidates; chances are as tickets."""
        number = self.below(sum(tickets))
        for candidate, held in zip(candidates, tickets, strict=True):
            number -= held
            if number < 0:
                return candidate
        return candidates[-1]
