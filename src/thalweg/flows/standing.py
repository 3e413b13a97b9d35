"""A standing query of a flow, and what it may use."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from thalweg.algebra.codec import Functions, compact, read_plan, written
from thalweg.algebra.plan import Plan
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING, Instant


@dataclass(frozen=True)
class Quotas:
    """What a query may give and hold before it is suspended; None is no limit.

    `results` in all; `results_per_second` of event time (per tick where streams tick); `state` in tuples that its
    operators hold, shared ones counted in full.
    """

    results: int | None = None
    results_per_second: int | None = None
    state: int | None = None

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
                raise PlanError(
                    f"the quota {name} is a whole number of at least 0, not {limit!r}", hint="leave it out for no limit"
                )

    @staticmethod
    def read(given: dict[str, Any]) -> Quotas:
        """Quotas by name, as a catalogue keeps them; those not named have no limit."""
        unknown = sorted(given.keys() - asdict(Quotas()).keys())
        if unknown:
            raise PlanError(f"there is no quota {unknown[0]!r}", candidates=asdict(Quotas()))
        return Quotas(**given)

    def given(self) -> dict[str, int]:
        """The limits that there are, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True)
class Standing:
    """A query that stands in a flow. `since` is the flow's clock when it was added."""

    id: str
    plan: Plan
    cql: str = ""
    name: str = ""
    owner: str = ""
    since: Instant = BEGINNING
    backfill: bool = False
    quotas: Quotas = field(default_factory=Quotas)

    def text(self) -> str:
        """As JSON, for checkpoints."""
        about = {name: part for name, part in vars(self).items() if name != "plan"}
        return with_plan(about | {"quotas": self.quotas.given()}, written(self.plan).text)

    @staticmethod
    def read(text: str, functions: Functions) -> Standing:
        """What `text` gave, with the functions of users that are known."""
        given = json.loads(text)
        plan, quotas = read_plan(compact(given["plan"]), functions), Quotas.read(given["quotas"])
        return Standing(**given | {"plan": plan, "quotas": quotas})


def with_plan(about: dict[str, Any], plan: str) -> str:
    """JSON that has the text of a plan for its last part."""
    return f'{json.dumps(about)[:-1]}, "plan": {plan}}}'


@dataclass(frozen=True)
class Suspension:
    """Why a query runs no more, since when, and what it had seen and given."""

    at: Instant
    reason: str
    hint: str | None = None
    seen: int = 0
    results: int = 0
