"""The desk of a flow that runs in shards: where queries are handed in, by whoever can reach its checkpoint."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import CheckpointError, PlanError
from thalweg.core.time import Instant
from thalweg.cql import compile_query
from thalweg.flows.command import DROP, Command, check_name, find
from thalweg.flows.pickles import pickled
from thalweg.flows.standing import Quotas, Standing
from thalweg.kernel.operator import Key
from thalweg.patterns import check
from thalweg.runtime.distributed.checkpoint.files import replace_file
from thalweg.runtime.distributed.checkpoint.flow_commands import Commands
from thalweg.runtime.distributed.worker.flow_spec import needs_all

_FILE = "flow.pickle"  # of the checkpoint


@dataclass(frozen=True)
class Made:
    """What a flow is made of: the streams that it reads, each with the key that it is spread by, and its tables."""

    name: str
    catalog: Catalog
    keys: Mapping[str, Key | None]
    tables: Sequence[str]
    sees_all: bool


class FlowDesk:
    """Checks queries against what the flow is made of, and tells it of them. It need not run, here or anywhere."""

    def __init__(self, checkpoint: Path, made: Made) -> None:
        self.made, self.commands = made, Commands(checkpoint)
        self._file = checkpoint / _FILE

    @staticmethod
    def is_at(checkpoint: str | Path) -> bool:
        """Whether a folder is the checkpoint of a flow."""
        return (Path(checkpoint) / _FILE).exists()

    @staticmethod
    def at(checkpoint: str | Path) -> FlowDesk:
        """The desk of a flow that another process has made."""
        path = Path(checkpoint) / _FILE
        try:
            made: Made = pickle.loads(path.read_bytes())
        except FileNotFoundError:
            raise CheckpointError(
                f"{checkpoint} is no checkpoint of a flow: it has no {_FILE}", hint="start the flow there first"
            ) from None
        return FlowDesk(Path(checkpoint), made)

    def open(self) -> None:
        """Let other processes find it, with all that the catalogue has now."""
        replace_file(self._file, pickled(self.made))

    def add_all(
        self,
        queries: Sequence[str | Plan],
        names: Sequence[str] | None = None,
        owner: str = "",
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
        today: Instant | None = None,
    ) -> list[Command]:
        """Let queries stand from the next batch on, all from the same one; or, before the first start, from then on."""
        asked, plans = Quotas.read(dict(quotas or {})), [self._plan(query, today) for query in queries]
        whole = [self._sees_all_for(plan) for plan in plans]
        with self.commands.telling() as first:
            commands, live = list[Command](), self.commands.live() if any(names or ()) else {}
            for i, (query, name) in enumerate(zip(queries, names or [""] * len(queries), strict=True)):
                text, id_ = query if isinstance(query, str) else "", f"q{first + i}"
                check_name(live, name)
                standing = Standing(id_, plans[i], text, name or id_, owner, backfill=backfill, quotas=asked)
                commands.append(Command.adding(first + i, standing, whole[i]))
            self.commands.tell(*commands)
        return commands

    def take_over(self, commands: Iterable[Command]) -> None:
        """Let the queries of a catalogue stand, as they are called there, unless the flow was ever told anything."""
        with self.commands.telling() as first:
            told = []
            for command in commands if first == 1 else ():
                plan, quotas = self._plan(command.cql, command.today), Quotas.read(dict(command.quotas))
                about = command.cql, command.name, command.owner
                standing = Standing(command.id, plan, *about, backfill=command.backfill, quotas=quotas)
                told.append(Command.adding(command.seq, standing, self._sees_all_for(plan)))
            self.commands.tell(*told)

    def drop(self, query: str) -> Command:
        """End a query, by its id or name, with the next batch."""
        with self.commands.telling() as number:
            command = Command(number, DROP, find(self.commands.live(), query))
            self.commands.tell(command)
        return command

    def _plan(self, query: str | Plan, today: Instant | None) -> Plan:
        plan = query if isinstance(query, Plan) else compile_query(query, self.made.catalog, today=today)
        check(plan)
        known = [*self.made.keys, *self.made.tables]
        read = {leaf.source.name for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan)}
        unknown = sorted(read - set(known))
        if unknown:
            raise PlanError(
                f"the flow {self.made.name} does not read {', '.join(unknown)}", candidates=known,
                hint="a flow's streams and tables are fixed when it is first made",
            )  # fmt: skip
        return plan

    def _sees_all_for(self, plan: Plan) -> bool:
        """Whether a query must see all tuples in one place; an error if the flow has none."""
        whole = needs_all(plan, self.made.keys, dict.fromkeys(self.made.tables))
        if whole and not self.made.sees_all:
            raise PlanError(
                "this query must see all its tuples in one place, and the flow has none that does",
                hint="spread streams by what the query joins or groups by (keys=), or make the flow with sees_all=True",
            )
        return whole
