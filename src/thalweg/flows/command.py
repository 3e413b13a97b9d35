"""Commands to a flow: what is written down when a query comes, goes or fails, in a catalogue or in a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from thalweg.algebra.codec import Functions, compact, read_plan, written
from thalweg.core.errors import NameNotFoundError, PlanError, did_you_mean
from thalweg.core.time import Instant
from thalweg.flows.standing import Quotas, Standing, with_plan

ADD, DROP, SUSPEND = "add", "drop", "suspend"

_ALWAYS = ("seq", "command", "id")
_IN_SHARDS = ("plan", "calls", "whole", "reason")


@dataclass(frozen=True)
class Command:
    """A query is added, dropped or suspended. Commands are obeyed in the order of their numbers.

    `today` is the day that a bare time of day in the text refers to. Where a flow runs in shards the query's `plan`
    goes along, as JSON, so that every shard runs the same; `calls` are the functions and aggregates of users in it;
    and `whole` says that it must see all tuples in one place. A query is suspended everywhere because it has failed
    somewhere: that is the `reason`.
    """

    seq: int
    command: str
    id: str
    name: str = ""
    owner: str = ""
    cql: str = ""
    backfill: bool = False
    quotas: dict[str, int] = field(default_factory=dict)
    today: Instant | None = None
    plan: str = ""
    calls: list[str] = field(default_factory=list)
    whole: bool = False
    reason: str = ""

    @staticmethod
    def adding(seq: int, standing: Standing, whole: bool) -> Command:
        """A query with its plan."""
        quotas, plan = standing.quotas.given(), written(standing.plan)
        about = standing.name, standing.owner, standing.cql, standing.backfill, quotas
        return Command(seq, ADD, standing.id, *about, plan=plan.text, calls=list(plan.calls), whole=whole)

    @staticmethod
    def read(text: str | bytes) -> Command:
        """What `line` gave."""
        given: dict[str, Any] = json.loads(text)
        if "plan" in given:
            given["plan"] = compact(given["plan"])
        return Command(**given)

    def line(self) -> str:
        """One line of JSON."""
        told = asdict(self)
        spared = [k for k in told if k not in _ALWAYS and (self.command != ADD or k in _IN_SHARDS) and not told[k]]
        kept = {k: v for k, v in told.items() if k not in spared and k != "plan"}
        return (with_plan(kept, self.plan) if self.plan else json.dumps(kept, ensure_ascii=False)) + "\n"

    def about(self) -> dict[str, Any]:
        """What people may want to know of a query."""
        return {k: v for k, v in asdict(self).items() if k not in ("command", "today", *_IN_SHARDS)}

    def standing(self, functions: Functions) -> Standing:
        """The query that it adds, with its plan, which may call some functions of users."""
        plan, quotas = read_plan(self.plan, functions), Quotas.read(dict(self.quotas))
        return Standing(self.id, plan, self.cql, self.name, self.owner, backfill=self.backfill, quotas=quotas)


def find(live: Mapping[str, Command], query: str) -> str:
    """The id of the query that has this id or name."""
    if query in live:
        return query
    found = [id_ for id_, command in live.items() if command.name.casefold() == query.casefold()]
    if not found:
        names = [command.name for command in live.values()]
        raise NameNotFoundError(
            f"there is no query {query} in the flow", candidates=names, hint=did_you_mean(query, names)
        )
    return found[0]


def check_name(live: Mapping[str, Command], name: str | None) -> None:
    """An error if a query is called so."""
    for other in live.values() if name else ():
        if name and name.casefold() in (other.name.casefold(), other.id):
            raise PlanError(f"there is a query called {name} already: {other.id}", hint="drop it first")
