"""Commands to a flow: a query is added, dropped or suspended; kept in a catalogue or in a checkpoint."""

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


@dataclass(frozen=True)
class CommandSummary:
    """The query that a command adds, without its plan."""

    seq: int
    id: str
    name: str
    owner: str
    cql: str
    backfill: bool
    quotas: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return dict(vars(self))


_ALWAYS = ("seq", "command", "id")
_IN_SHARDS = ("plan", "calls", "whole", "reason")


@dataclass(frozen=True)
class Command:
    """A query is added, dropped or suspended. Commands take effect in the order of their numbers.

    `today` is the day that a bare time of day in the text refers to. Where a flow runs in shards, the command carries
    the query's `plan` as JSON, so that every shard runs the same plan; `calls` names the users' functions and
    aggregates in it; `whole` says that the query must see all tuples in one place. A query that fails in one shard is
    suspended in all of them, for the `reason` given.
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
        """Reads the text that `line` wrote."""
        given: dict[str, Any] = json.loads(text)
        if "plan" in given:
            given["plan"] = compact(given["plan"])
        return Command(**given)

    def line(self) -> str:
        """One line of JSON."""
        parts = asdict(self)
        omitted = [k for k in parts if k not in _ALWAYS and (self.command != ADD or k in _IN_SHARDS) and not parts[k]]
        kept = {k: v for k, v in parts.items() if k not in omitted and k != "plan"}
        return (with_plan(json.dumps(kept), self.plan) if self.plan else json.dumps(kept, ensure_ascii=False)) + "\n"

    @property
    def summary(self) -> CommandSummary:
        """What `thalweg flow list` and `show` tell people."""
        return CommandSummary(self.seq, self.id, self.name, self.owner, self.cql, self.backfill, self.quotas)

    def standing(self, functions: Functions) -> Standing:
        """The query that it adds; its plan may call these users' functions."""
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
    """Raises an error if a live query has this name."""
    for other in live.values() if name else ():
        if name and name.casefold() in (other.name.casefold(), other.id):
            raise PlanError(f"there is a query called {name} already: {other.id}", hint="drop it first")
