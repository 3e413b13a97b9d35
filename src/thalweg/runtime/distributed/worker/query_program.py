"""A query's program in one shard of one stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from thalweg.core.time import BEGINNING
from thalweg.kernel.pipeline.metrics import summed
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.files import map_stream
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import Message, MessageKind
from thalweg.runtime.distributed.ingest.clock import StepTime
from thalweg.runtime.distributed.ingest.routing import send_rows
from thalweg.runtime.distributed.worker.broadcast_tables import BroadcastTables
from thalweg.runtime.distributed.worker.grouped_program import GroupedProgram, GroupName, Received
from thalweg.runtime.distributed.worker.query_group import QueryGroup
from thalweg.runtime.distributed.worker.stage_plan import StagePlan


class QueryProgram(GroupedProgram[QueryGroup]):
    """Groups of a stage's operators, and the tables that every shard has as a whole.

    Before a group gets a message it has no output, but for group 0: operators that see all tuples run there, and have
    an answer over nothing too.
    """

    def __init__(self, stage: StagePlan, shard: int) -> None:
        super().__init__(shard, stage.layouts, stage.inputs, stage.stamped)
        self._stage, self._sources = stage, stage.sources
        self._tables = BroadcastTables(stage) if stage.sources.broadcast_tables else None

    def is_reusable(self) -> bool:
        """False: to make the operators of one stage costs little."""
        return False

    def _new_group(self, name: GroupName) -> QueryGroup:
        return QueryGroup(self._stage, int(name))

    def _source_of(self, port: int) -> str | None:
        found = self._sources.all.get(port)
        return None if found is None else found.source

    # -- state

    def _own_state(self) -> Tree:
        return {"tables": None if self._tables is None else self._tables.snapshot()}

    def _restore_own(self, tree: Tree) -> None:
        if self._tables is not None:
            self._tables.restore(tree["tables"])

    def report(self) -> ShardReport:
        """See `ShardProgram`."""
        report = super().report()
        operators = tuple(summed([group.counted for group in self._groups.values()]))
        return replace(report, waiting=report.waiting + len(self._tables or ()), operators=operators)

    # -- messages

    def _deal(self, messages: Sequence[Message], time: StepTime) -> tuple[list[Message], Received]:
        """Rows of sources go to their groups, where they wait for their time; rows for later stages pass through."""
        whole = self._sources.broadcast_tables
        rows = [m for m in messages if m.kind is MessageKind.ROWS and m.port not in whole]
        answered = [m for m in messages if m.kind is MessageKind.ANSWERED]
        if self._tables is not None:  # every shard gets the same changes, so one writes their side output
            side_outputs = self.side_outputs if self._shard == 0 else None
            rows += self._tables.messages(messages, time, self._mine, side_outputs)
        to_groups = {*self._sources.streams, *self._sources.tables, *self._stage.fragment.inputs}
        received: Received = defaultdict(list)
        if not self._has_begun and 0 in self._mine:
            received["0"] = []
        for message in (*self._static_tables(), *rows, *answered):
            if len(message.blob) and (message.kind is MessageKind.ANSWERED or message.port in to_groups):
                received[str(message.group)].append(message)
        return [message for message in rows if message.port not in to_groups], received

    def _static_tables(self) -> Iterator[Message]:
        """In the first batch, the rows of tables that never change: each shard reads those of its groups."""
        for port, table in self._sources.tables.items() if not self._has_begun else ():
            if table.file is not None:
                rows = unpack(map_stream(Path(table.file)))
                like = Message(MessageKind.ROWS, 0, port, 0, BEGINNING, 0)
                sent = send_rows(rows, table.schema, table.key or (), self._stage.layouts, like)
                yield from (message for message in sent if message.group in self._mine)
