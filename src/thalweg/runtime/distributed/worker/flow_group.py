"""A group of a flow at work, or the one place that sees all tuples: its queries, and what waits for its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.errors import CheckpointError
from thalweg.core.lanes import Ints, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.flows.command import ADD, Command
from thalweg.flows.engine import FlowEngine
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.files import map_file
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import Parcel
from thalweg.runtime.distributed.ingest.arrivals import Arrivals
from thalweg.runtime.distributed.ingest.side_outputs import Aside
from thalweg.runtime.distributed.ingest.updates import Updates
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.group import Now


class FlowPart(NamedTuple):
    """A part of what the answers of some queries with equal columns gained, and the strings in it.

    `whose` says of each tuple which of the queries has gained it.
    """

    queries: list[str]
    whose: Ints
    batch: Batch
    schema: Schema
    pool: StringPool


class FlowPlace:
    """A group with its queries, or the one place that sees all tuples."""

    def __init__(self, spec: FlowSpec, whole: bool) -> None:
        self._spec, self._whole = spec, whole
        self._engine = self._new_engine()
        self._pool = self._engine.pool
        self._arrivals = {i: Arrivals(dated=False) for i, port in enumerate(spec.ports) if port.whole == whole}
        self._told_tables = False
        self.arrived = 0

    def _new_engine(self) -> FlowEngine:
        engine = FlowEngine(functions=self._spec.functions)
        engine.know_tables(*self._spec.tables)
        return engine

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "arrivals": {str(i): arrivals.snapshot() for i, arrivals in self._arrivals.items()},
            "engine": self._engine.snapshot(),
            "told_tables": self._told_tables,
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there; what has the same queries already need not be built anew."""
        if not self._engine.has_queries_of(tree["engine"]):
            self._engine = self._new_engine()
            self._pool = self._engine.pool
        self._engine.restore(tree["engine"])
        for i, arrivals in self._arrivals.items():
            arrivals.restore(tree["arrivals"][str(i)])
        self._told_tables = tree["told_tables"]

    @property
    def waiting(self) -> int:
        """How many tuples are ahead of the flow's time."""
        return sum(map(len, self._arrivals.values()))

    @property
    def stored(self) -> int:
        """How many tuples it holds for queries to come."""
        return sum(self._engine.held.values())

    def suspended(self) -> dict[str, str]:
        """Queries that run here no more, and why."""
        return {query: suspension.reason for query, suspension in self._engine.suspended.items()}

    def counts(self) -> dict[str, dict[str, float]]:
        """By query, what it has seen, given and cost."""
        return {query: self._engine.metrics(query).counts() for query in self._engine.standing}

    def obey(self, command: Command, now: Instant | None) -> None:
        """A query comes or goes; those that see all run in their place only. Without a `now` it has come before."""
        if command.command != ADD:
            if command.id in self._engine.standing or command.id in self._engine.suspended:
                self._engine.drop(command.id)
        elif command.whole == self._whole:
            try:
                standing = command.standing(self._spec.functions)
            except CheckpointError as error:  # it calls a function that was registered after the flow was started
                self._engine.refuse(command.id, error)
            else:
                self._engine.add(standing, standing.since if now is None else now)

    def run(self, sent: Sequence[Parcel], now: Now, aside: Aside) -> Iterator[FlowPart]:
        """One micro-batch: what each query's answer gained."""
        self.arrived = 0
        feeds = dict(self._tables())
        for i, arrivals in self._arrivals.items():
            port = self._spec.ports[i]
            for parcel in sent:
                if parcel.port == i:
                    self._take(arrivals, i, parcel, now, aside)
            due = arrivals.due(now.after)
            if due is not None:
                feeds[port.source] = due
        alike: defaultdict[tuple[DataType, ...], list[tuple[str, Batch]]] = defaultdict(list)
        for query, batch in self._engine.process(feeds, now.after).items():
            if len(batch):
                alike[self._engine.standing[query].plan.schema.types].append((query, batch))
        for gained in alike.values():
            queries, batches = [query for query, _ in gained], [batch for _, batch in gained]
            whose = np.repeat(np.arange(len(gained)), [len(batch) for batch in batches])
            schema = self._engine.standing[queries[0]].plan.schema
            yield FlowPart(queries, whose, Batch.concat(batches), schema, self._pool)

    def _take(self, arrivals: Arrivals, i: int, parcel: Parcel, now: Now, aside: Aside) -> None:
        table, port = unpack(parcel.blob), self._spec.ports[i]
        columns = [to_lane(table.column(c), f.type, self._pool) for c, f in enumerate(port.schema)]
        self.arrived += table.num_rows * (not port.whole)
        late = arrivals.add(columns, table.column(table.num_columns - 1).to_numpy(), now.before)
        if late is not None and not port.whole:
            aside.late(port.source, late, port.schema, self._pool)

    def _tables(self) -> Iterator[tuple[str, Batch]]:
        """In the first batch, what tables hold: all of it, here as everywhere."""
        if self._told_tables:
            return
        self._told_tables = True
        for name, path in self._spec.tables.items():
            schema = self._spec.table_schemas[name]
            updates = Updates(schema, None, dated=False)
            updates.take(unpack(map_file(Path(path))), schema, self._pool, BEGINNING)
            found = updates.due(BEGINNING)
            if found is not None:
                yield name, found[0]
