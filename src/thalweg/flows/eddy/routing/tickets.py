"""Tickets weighted by predicates: the paper's own scheme (MaddenEtAl2002 §4)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Policy, SeededDraws, Work

_HALF_LIFE = 8192  # tuples after which a ticket counts half, ...
_LEAST_DRAWS = 64  # ... if these are at least so many chunks; with fewer, one unlucky draw would weigh too much
_LEAST_SHARE = 0.01  # of all tickets, that every operator is treated as having


class Tickets(Policy, kind="tickets-policy/1"):
    """An operator gets a ticket for each predicate that it applies to a tuple, and returns it with the tuple.

    So a filter wins tickets by dropping tuples, one for each predicate there; a SteM by pairs without a partner. The
    next operator is drawn by lot. Old tickets fade, so that a filter that no longer drops tuples loses its place; each
    operator keeps at least one ticket, and at least one in a hundred, so that it is tried again.
    """

    KEPT = ("_draws", "_tickets")

    def __init__(self, seed: int) -> None:
        self._draws = SeededDraws(seed)
        self._tickets: dict[str, float] = {}

    def begin(self, tuples: int) -> None:
        """Old tickets fade."""
        kept = 0.5 ** min(tuples / _HALF_LIFE, 1 / _LEAST_DRAWS)
        self._tickets = {name: held * kept for name, held in self._tickets.items()}

    def choose(self, candidates: Sequence[str]) -> str:
        """Draw by lot."""
        held = [max(1.0, self._tickets.get(name, 0.0)) for name in candidates]
        least = _LEAST_SHARE * sum(held)
        return self._draws.lottery(candidates, [max(tickets, least) for tickets in held])

    def learn(self, work: Work) -> None:
        """Add tickets for the pairs given, less those returned."""
        won = work.given - work.returned if work.gone is None else work.gone
        held = self._tickets.get(work.operator, 0.0) + won
        self._tickets[work.operator] = max(1.0, held)

    def shares(self) -> dict[str, float]:
        """Shares by tickets."""
        total = sum(self._tickets.values())
        return {name: held / total for name, held in self._tickets.items()}
