"""The interface of a routing policy, and the two baselines: a fixed order and a random order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.kernel.state.snapshot import Stateful

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Work:
    """The work of an operator on a chunk.

    `given` counts the (tuple, query) pairs to decide, `returned` the pairs alive afterwards: a SteM may return more
    than it was given. `gone` counts the pairs of tuples that a filter dropped, because no query wants them any more;
    None for a SteM, which returns other tuples than it receives.
    """

    operator: str
    tuples: int
    given: int
    returned: int
    seconds: float
    gone: int | None = None


class Policy(Stateful, ABC):
    """Routes the tuples of one source. No answer depends on its choices."""

    def begin(self, tuples: int) -> None:
        """A new chunk of tuples starts."""

    @abstractmethod
    def choose(self, candidates: Sequence[str]) -> str:
        """The operator to visit next, among those that the chunk has not visited."""

    def learn(self, work: Work) -> None:
        """Learn from an operator's work."""

    def shares(self) -> dict[str, float]:
        """By operator, its share of the weights that visits are drawn by; empty without weights."""
        return {}


class SeededDraws(Stateful, kind="random-draws/1"):
    """Random numbers from a seed, with a state that snapshots hold (the splitmix generator)."""

    KEPT = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & (_MASK >> 1)

    def below(self, limit: float) -> float:
        """A number from 0 up to, but not including, a limit."""
        self._state = (self._state + 0x1E3779B97F4A7C15) & (_MASK >> 1)
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53) * limit

    def lottery(self, candidates: Sequence[str], tickets: Sequence[float]) -> str:
        """One of the candidates, drawn with chances proportional to their tickets."""
        number = self.below(sum(tickets))
        for candidate, held in zip(candidates, tickets, strict=True):
            number -= held
            if number < 0:
                return candidate
        return candidates[-1]


class Fixed(Policy, kind="fixed-policy/1"):
    """Operators in the order of a list of names; all others come last, in order of addition.

    Such an order is optimal if it is known which filters drop most (MaddenEtAl2002 §4.1).
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._rank = {name: place for place, name in enumerate(order)}

    def choose(self, candidates: Sequence[str]) -> str:
        """The first candidate in the list."""
        return min(candidates, key=lambda name: self._rank.get(name, len(self._rank)))


class RandomOrder(Policy, kind="random-policy/1"):
    """All candidates have the same chance. Every other policy must beat this one (MaddenEtAl2002 §4.1)."""

    KEPT = ("_draws",)

    def __init__(self, seed: int) -> None:
        self._draws = SeededDraws(seed)

    def choose(self, candidates: Sequence[str]) -> str:
        """A random candidate."""
        return candidates[int(self._draws.below(len(candidates)))]
