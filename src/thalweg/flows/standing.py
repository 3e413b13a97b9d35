"""A standing query of a flow, its quotas, and the results that are counted against them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from thalweg.algebra.codec import Functions, compact, read_plan, written
from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING, SECOND, Clock, Instant


@dataclass(frozen=True)
class Quotas:
    """How much a query may emit and store before it is suspended; None is no limit.

    `results` counts results in all; `results_per_second` those of a second of event time (of a tick, where time is in
    ticks); `state` the tuples that the query's operators store, those of shared operators in full.
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
    """A query of a flow. `since` is the flow's clock when the query was added."""

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
        return with_plan(json.dumps(about | {"quotas": self.quotas.given()}), written(self.plan).text)

    @staticmethod
    def read(text: str, functions: Functions) -> Standing:
        """Reads the JSON that `text` wrote; the plan may call these users' functions."""
        given = json.loads(text)
        plan, quotas = read_plan(compact(given["plan"]), functions), Quotas.read(given["quotas"])
        return Standing(**given | {"plan": plan, "quotas": quotas})


def with_plan(about: str, plan: str) -> str:
    """A JSON object with a plan as its last part; both are given as JSON text."""
    return f'{about[:-1]}, "plan": {plan}}}'


@dataclass(frozen=True)
class Suspension:
    """Why a query was suspended, when, and what it had received and emitted by then."""

    at: Instant
    reason: str
    hint: str | None = None
    seen: int = 0
    results: int = 0


_NO_LIMIT = Quotas()


@dataclass
class ResultCounts:
    """How many results (positive tuples) a query has emitted: in all, and in its latest second (or tick)."""

    results: int = 0
    second: Instant = BEGINNING
    in_second: int = 0

    def count(self, gained: Batch, standing: Standing) -> str | None:
        """Count more output; the text of the exceeded quota, or None."""
        if standing.quotas == _NO_LIMIT:
            self.results += int(np.count_nonzero(gained.sign > 0))
            return None
        starts = gained.start[gained.sign > 0]
        self.results += len(starts)
        ticks = SECOND if standing.plan.clock is Clock.TIMESTAMPS else 1
        seconds, counts = np.unique(starts // ticks, return_counts=True)
        most = self._most_in_a_second(seconds, counts)
        return _exceeded(standing.quotas, self.results, most, "second" if ticks > 1 else "tick")

    def _most_in_a_second(self, seconds: np.ndarray, counts: np.ndarray) -> int:
        """The largest count of a second; these results may continue the latest one."""
        if not len(seconds):
            return 0
        counts = counts + np.where(seconds == self.second, self.in_second, 0)
        self.second, self.in_second = int(seconds[-1]), int(counts[-1])
        return int(counts.max())


def _exceeded(quotas: Quotas, results: int, in_second: int, unit: str) -> str | None:
    if quotas.results is not None and results > quotas.results:
        return f"it has emitted {results} results, its quota is {quotas.results} in all"
    if quotas.results_per_second is not None and in_second > quotas.results_per_second:
        return f"it has emitted {in_second} results in one {unit}, its quota is {quotas.results_per_second}"
    return None
