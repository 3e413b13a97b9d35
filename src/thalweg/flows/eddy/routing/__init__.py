"""Routing policies: which operator a chunk of tuples visits next (MaddenEtAl2002 §4)."""

from __future__ import annotations

from collections.abc import Callable

from thalweg.core.errors import PlanError
from thalweg.flows.eddy.routing.back_pressure import BackPressure
from thalweg.flows.eddy.routing.policy import Fixed, Policy, RandomOrder, Work
from thalweg.flows.eddy.routing.tickets import Tickets

MakePolicy = Callable[[int], Policy]  # from a seed

POLICIES: dict[str, MakePolicy] = {
    "tickets": Tickets,
    "back-pressure": BackPressure,
    "random": RandomOrder,
    "fixed": lambda seed: Fixed(()),
}


def policy_maker(policy: str | MakePolicy) -> MakePolicy:
    """The function that makes a policy, given its name or the function itself."""
    if not isinstance(policy, str):
        return policy
    if policy not in POLICIES:
        raise PlanError(f"there is no routing policy {policy!r}", candidates=sorted(POLICIES))
    return POLICIES[policy]


__all__ = [
    "BackPressure",
    "Fixed",
    "MakePolicy",
    "POLICIES",
    "Policy",
    "RandomOrder",
    "Tickets",
    "Work",
    "policy_maker",
]
