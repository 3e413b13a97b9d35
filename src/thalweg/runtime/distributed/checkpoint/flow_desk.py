"""Adds and drops queries of a flow on Spark, in any process that can reach the flow's checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec import Functions, catalog_tree, from_json, read_catalog, to_json, written
from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.core.errors import CheckpointError, PlanError
from thalweg.core.time import Instant
from thalweg.cql import compile_query
from thalweg.flows.command import DROP, Command, check_name, find
from thalweg.flows.standing import Quotas, Standing
from thalweg.kernel.operator import Key
from thalweg.patterns import check
from thalweg.runtime.distributed.checkpoint.checksums import WRONG_SHAPE, damaged, open_json, sealed_json
from thalweg.runtime.distributed.checkpoint.files import read_bytes, replace_file
from thalweg.runtime.distributed.checkpoint.flow_commands import Commands
from thalweg.runtime.distributed.stages import needs_all_tuples

_FILE = "flow.json"  # of the checkpoint
_VERSION = 2
_WITHOUT_CHECKSUM = 1  # the version before, which is still read


@dataclass(frozen=True)
class FlowDefinition:
    """The streams that a flow reads, each with the key that it is partitioned by, and its tables."""

    name: str
    catalog: Catalog
    keys: Mapping[str, Key | None]
    tables: Sequence[str]
    sees_all: bool

    def as_json(self) -> dict[str, Any]:
        """For the checkpoint; of users' functions only names and types."""
        keys = {stream: to_json(key) for stream, key in self.keys.items()}
        about = {"name": self.name, "keys": keys, "tables": list(self.tables), "sees_all": self.sees_all}
        return {"version": _VERSION, **about, "catalog": catalog_tree(self.catalog)}

    @staticmethod
    def read(given: Mapping[str, Any]) -> FlowDefinition:
        """The inverse of `as_json`."""
        if given["version"] not in (_VERSION, _WITHOUT_CHECKSUM):
            raise CheckpointError(
                f"the flow's {_FILE} has format {given['version']}, but this version of Thalweg reads {_VERSION}",
                hint="go on with the version that wrote it, or start the flow anew with another checkpoint",
            )
        keys = {stream: from_json(key) for stream, key in given["keys"].items()}
        return FlowDefinition(given["name"], read_catalog(given["catalog"]), keys, given["tables"], given["sees_all"])

    @property
    def functions(self) -> Functions:
        """The functions of users that queries may call."""
        return Functions.of([*self.catalog.functions, *self.catalog.aggregates])


class FlowDesk:
    """Checks queries against the flow's definition, and writes the commands that add them. The flow need not run."""

    def __init__(self, checkpoint: Path, definition: FlowDefinition) -> None:
        self.definition, self.commands = definition, Commands(checkpoint)
        self._file = checkpoint / _FILE

    @staticmethod
    def file(checkpoint: Path) -> Path:
        """The file with the definition of a flow."""
        return checkpoint / _FILE

    @staticmethod
    def is_at(checkpoint: str | Path) -> bool:
        """Whether a folder is the checkpoint of a flow."""
        return (Path(checkpoint) / _FILE).exists()

    @staticmethod
    def at(checkpoint: str | Path) -> FlowDesk:
        """The desk of a flow that another process has created."""
        path = Path(checkpoint) / _FILE
        try:
            definition = FlowDefinition.read(open_json(path, read_bytes(path), _VERSION))
        except FileNotFoundError:
            raise CheckpointError(
                f"{checkpoint} is no checkpoint of a flow: it has no {_FILE}", hint="start the flow there first"
            ) from None
        except WRONG_SHAPE as error:
            raise damaged(path, repr(error)) from error
        return FlowDesk(Path(checkpoint), definition)

    def open(self) -> None:
        """Write flow.json, with the present catalogue, for other processes."""
        replace_file(self._file, sealed_json(self.definition.as_json()))

    def add_all(
        self,
        queries: Sequence[str | Plan],
        names: Sequence[str] | None = None,
        owner: str = "",
        backfill: bool = False,
        quotas: Mapping[str, int] | None = None,
        today: Instant | None = None,
        runs_with: Functions | None = None,
    ) -> list[Command]:
        """Add queries that all start with the same batch: the next one, or the first, if the flow has not run yet.

        A running flow can only call the functions that it `runs_with`: they were sent to its tasks when it started.
        """
        asked, plans = Quotas.read(dict(quotas or {})), [self._plan(query, today) for query in queries]
        whole = [self._sees_all_for(plan) for plan in plans]
        missing = [] if runs_with is None else runs_with.missing(call for plan in plans for call in written(plan).calls)
        if missing:
            raise PlanError(
                f"the flow {self.definition.name} was started before {missing[0].upper()} was registered",
                hint="stop the flow and start it again, then add the query",
            )
        with self.commands.locked() as first:
            commands, live = list[Command](), self.commands.live() if any(names or ()) else {}
            for i, (query, name) in enumerate(zip(queries, names or [""] * len(queries), strict=True)):
                text, id_ = query if isinstance(query, str) else "", f"q{first + i}"
                check_name(live, name)
                standing = Standing(id_, plans[i], text, name or id_, owner, backfill=backfill, quotas=asked)
                commands.append(Command.adding(first + i, standing, whole[i]))
            self.commands.add(*commands)
        return commands

    def take_over(self, commands: Iterable[Command]) -> None:
        """Add the queries of a catalogue under their ids, if the flow has had no command yet."""
        with self.commands.locked() as first:
            added = []
            for command in commands if first == 1 else ():
                plan, quotas = self._plan(command.cql, command.today), Quotas.read(dict(command.quotas))
                about = command.cql, command.name, command.owner
                standing = Standing(command.id, plan, *about, backfill=command.backfill, quotas=quotas)
                added.append(Command.adding(command.seq, standing, self._sees_all_for(plan)))
            self.commands.add(*added)

    def check_functions(self) -> None:
        """Raise a CheckpointError if a query that is not suspended calls a function that is not registered."""
        functions, suspended = self.definition.functions, self.commands.suspended()
        for query, command in self.commands.live().items():
            missing = functions.missing(command.calls)
            if missing and query not in suspended:
                raise CheckpointError(
                    f"the query {command.name} ({query}) of the flow {self.definition.name} calls "
                    f"{missing[0].upper()}, which is not registered",
                    hint="register it with the engine, then start the flow again; or drop the query",
                )

    def drop(self, query: str) -> Command:
        """Drop a query, given by its id or name; it ends with the next batch."""
        with self.commands.locked() as number:
            command = Command(number, DROP, find(self.commands.live(), query))
            self.commands.add(command)
        return command

    def _plan(self, query: str | Plan, today: Instant | None) -> Plan:
        plan = query if isinstance(query, Plan) else compile_query(query, self.definition.catalog, today=today)
        check(plan)
        known = [*self.definition.keys, *self.definition.tables]
        read = {leaf.source.name for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan)}
        unknown = sorted(read - set(known))
        if unknown:
            raise PlanError(
                f"the flow {self.definition.name} does not read {', '.join(unknown)}", candidates=known,
                hint="a flow's streams and tables are fixed when it is first made",
            )  # fmt: skip
        return plan

    def _sees_all_for(self, plan: Plan) -> bool:
        """Whether a query must see all tuples in one group; an error if the flow has no such group."""
        whole = needs_all_tuples(plan, self.definition.keys, self.definition.tables)
        if whole and not self.definition.sees_all:
            raise PlanError(
                "this query must see all its tuples in one place, but the flow was made with sees_all=False",
                hint="spread streams by what the query joins or groups by (keys=), or make the flow with sees_all=True",
            )
        return whole
