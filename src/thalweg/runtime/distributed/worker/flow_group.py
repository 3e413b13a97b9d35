"""A group of a flow: all queries of the flow over the group's tuples, and tuples that wait for their time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import to_lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.flows.command import ADD, Command
from thalweg.flows.engine import FlowEngine
from thalweg.flows.metrics import QueryMetrics
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.files import map_stream
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.exchange.outgoing import OutgoingRows
from thalweg.runtime.distributed.ingest.arrivals import Arrivals
from thalweg.runtime.distributed.ingest.clock import StepTime
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs
from thalweg.runtime.distributed.ingest.table_updates import Updates
from thalweg.runtime.distributed.worker.program import AnswerPart
from thalweg.runtime.distributed.worker.stage_plan import FlowPlan


class FlowGroup:
    """A `Group` of a flow. The one with `all_tuples` runs the queries that must see all tuples, and no others."""

    def __init__(self, flow: FlowPlan, all_tuples: bool) -> None:
        self._flow, self._all_tuples = flow, all_tuples
        self._engine = self._new_engine()
        self._pool = self._engine.pool
        self._arrivals = {i: Arrivals(dated=False) for i, p in enumerate(flow.ports) if p.all_tuples == all_tuples}
        self._has_tables = False
        self.arrived = 0

    def _new_engine(self) -> FlowEngine:
        engine = FlowEngine(functions=self._flow.functions)
        engine.know_tables(*self._flow.tables)
        return engine

    # -- state

    def snapshot(self) -> Tree:
        """See `Group`."""
        return {
            "arrivals": {str(i): arrivals.snapshot() for i, arrivals in self._arrivals.items()},
            "engine": self._engine.snapshot(),
            "has_tables": self._has_tables,
        }

    def restore(self, tree: Tree) -> None:
        """See `Group`. If the engine has the snapshot's queries, their operators are kept, and not made again."""
        if not self._engine.has_queries_of(tree["engine"]):
            self._engine = self._new_engine()
            self._pool = self._engine.pool
        self._engine.restore(tree["engine"])
        for i, arrivals in self._arrivals.items():
            arrivals.restore(tree["arrivals"][str(i)])
        self._has_tables = tree["has_tables"]

    @property
    def waiting(self) -> int:
        """See `Group`."""
        return sum(map(len, self._arrivals.values()))

    @property
    def stored(self) -> int:
        """Tuples that are kept for queries to come."""
        return sum(self._engine.held.values())

    def suspended(self) -> dict[str, str]:
        """Queries that have failed here, and why."""
        return {query: suspension.reason for query, suspension in self._engine.suspended.items()}

    def metrics(self) -> dict[str, QueryMetrics]:
        """The metrics of each query in this group."""
        return {query: self._engine.metrics(query) for query in self._engine.standing}

    # -- work

    def obey(self, command: Command, now: Instant | None) -> None:
        """Add or drop a query. Without `now` the query was added before this group began."""
        if command.command != ADD:
            if command.id in self._engine.standing or command.id in self._engine.suspended:
                self._engine.drop(command.id)
        elif command.whole == self._all_tuples:
            try:
                standing = command.standing(self._flow.functions)
            except CheckpointError as error:  # it calls a function that was registered after the flow was started
                self._engine.refuse(command.id, error)
            else:
                self._engine.add(standing, standing.since if now is None else now)

    def run(
        self, messages: Sequence[Message], time: StepTime, outgoing: OutgoingRows, side_outputs: SideOutputs
    ) -> Iterator[AnswerPart]:
        """See `Group`. Changes of queries with equal columns travel together."""
        self.arrived = 0
        self._engine.forget_strings(self._arrivals)
        feeds = dict(self._tables())
        for i, arrivals in self._arrivals.items():
            for message in messages:
                if message.port == i:
                    self._take(arrivals, i, message, time, side_outputs)
            due = arrivals.due(time.after)
            if due is not None:
                feeds[self._flow.ports[i].source] = due
        alike: defaultdict[tuple[DataType, ...], list[tuple[str, Batch]]] = defaultdict(list)
        for query, batch in self._engine.process(feeds, time.after).items():
            if len(batch):
                alike[self._engine.standing[query].plan.schema.types].append((query, batch))
        for changes in alike.values():
            queries, batches = tuple(query for query, _ in changes), [batch for _, batch in changes]
            owners = np.repeat(np.arange(len(changes)), [len(batch) for batch in batches])
            schema = self._engine.standing[queries[0]].plan.schema
            yield AnswerPart(Batch.concat(batches), schema, self._pool, queries, owners)

    def _take(self, arrivals: Arrivals, i: int, message: Message, time: StepTime, side_outputs: SideOutputs) -> None:
        table, port = unpack(message.blob), self._flow.ports[i]
        lanes = [to_lane(table.column(c), f.type, self._pool) for c, f in enumerate(port.schema)]
        late = arrivals.add(lanes, table.column(table.num_columns - 1).to_numpy(), time.before)
        if not port.all_tuples:  # every tuple comes by a port of its group too, and counts there
            self.arrived += table.num_rows
            if late is not None:
                side_outputs.add_late(port.source, late, port.schema, self._pool)

    def _tables(self) -> Iterator[tuple[str, Batch]]:
        """In the first batch, all rows of the tables."""
        if self._has_tables:
            return
        self._has_tables = True
        for name, path in self._flow.tables.items():
            schema = self._flow.table_schemas[name]
            updates = Updates(schema, None, dated=False)
            updates.add_rows(unpack(map_stream(Path(path))), schema, self._pool, BEGINNING)
            found = updates.due(BEGINNING)
            if found is not None:
                yield name, found[0]
