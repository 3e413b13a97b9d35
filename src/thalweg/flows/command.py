"""Commands to a flow: what is written down when a query comes, goes or fails, in a catalogue or in a checkpoint."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pickle import loads
from typing import Any

from thalweg.core.errors import NameNotFoundError, PlanError, did_you_mean
from thalweg.core.time import Instant
from thalweg.flows.pickles import pickled
from thalweg.flows.standing import Quotas, Standing

ADD, DROP, SUSPEND = "add", "drop", "suspend"

_ALWAYS = ("seq", "command", "id")
_IN_SHARDS = ("plan", "whole", "reason")


@dataclass(frozen=True)
class Command:
    """A query is added, dropped or suspended. Commands are obeyed in the order of their numbers.

    `today` is the day that a bare time of day in the text refers to. Where a flow runs in shards its `plan` goes along,
    for it may call functions that only the process has which adds it; and `whole` says that it must see all tuples in
    one place. A query is suspended everywhere because it has failed somewhere: that is the `reason`.
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
    whole: bool = False
    reason: str = ""

    @staticmethod
    def adding(seq: int, standing: Standing, whole: bool) -> Command:
        """A query with its plan."""
        quotas, plan = standing.quotas.given(), b64encode(pickled(standing.plan)).decode()
        about = standing.name, standing.owner, standing.cql, standing.backfill, quotas
        return Command(seq, ADD, standing.id, *about, plan=plan, whole=whole)

    @staticmethod
    def read(text: str | bytes) -> Command:
        """What `line` gave; plans are read only from the flow's own checkpoint."""
        given: dict[str, Any] = json.loads(text)
        return Command(**given)

    def line(self) -> str:
        """One line of JSON."""
        told = asdict(self)
        spared = [k for k in told if k not in _ALWAYS and (self.command != ADD or k in _IN_SHARDS) and not told[k]]
        return json.dumps({k: v for k, v in told.items() if k not in spared}, ensure_ascii=False) + "\n"

    def about(self) -> dict[str, Any]:
        """What people may want to know of a query."""
        return {k: v for k, v in asdict(self).items() if k not in ("command", "today", *_IN_SHARDS)}

    @cached_property
    def standing(self) -> Standing:
        """The query that it adds, with its plan."""
        plan, quotas = loads(b64decode(self.plan)), Quotas.read(dict(self.quotas))
        return Standing(self.id, plan, self.cql, self.name, self.owner, backfill=self.backfill, quotas=quotas)

    def __getstate__(self) -> dict[str, Any]:
        """Only what it was made of, so that equal commands are pickled equally."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


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
