"""Tickets weighted by predicates: the paper's own scheme (MaddenEtAl2002 §4)."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.flows.eddy.routing.policy import Draws, Policy, Work

_HALF_LIFE = 8192  # tuples after which a ticket counts half, if these are ...
_DRAWS = 64  # ... so many chunks or more: with fewer, one unlucky draw would count for too much
_EXPLORED = 0.01  # of all tickets: the least that an operator is treated as having


class Tickets(Policy, kind="tickets-policy/1"):
    """An operator gets a ticket for each predicate that it applies to a tuple, and gives them back with the tuple.

    So a filter wins tickets with tuples that no query wants after it, as many as had a predicate there; a SteM with
    pairs for which it finds no partner. The next operator is drawn by lot. Old tickets fade, so that a filter which no
    longer drops anything loses its place; each keeps at least one ticket, and one in a hundred, so that it is tried
    again.
    """

    KEPT = ("_draws", "_tickets")

    def __init__(self, seed: int) -> None:
        self._draws = Draws(seed)
        self._tickets: dict[str, float] = {}

    def begin(self, tuples: int) -> None:
        """Old tickets fade."""
        kept = 0.5 ** min(tuples / _HALF_LIFE, 1 / _DRAWS)
        self._tickets = {name: held * kept for name, held in self._tickets.items()}

    def choose(self, candidates: Sequence[str]) -> str:
        """By lot."""
        held = [max(1.0, self._tickets.get(name, 0.0)) for name in candidates]
        least = _EXPLORED * sum(held)
        return self._draws.lottery(candidates, [max(tickets, least) for tickets in held])

    def told(self, work: Work) -> None:
        """Tickets for what was given, less those for what came back."""
        won = work.given - work.returned if work.gone is None else work.gone
        held = self._tickets.get(work.operator, 0.0) + won
        self._tickets[work.operator] = max(1.0, held)

    def shares(self) -> dict[str, float]:
        """By tickets."""
        total = sum(self._tickets.values())
        return {name: held / total for name, held in self._tickets.items()}
