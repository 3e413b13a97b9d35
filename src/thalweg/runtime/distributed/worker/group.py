"""A group of keys at work in one stage: its operators, and what waits for its time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.exchange.codec import brought, from_arrow, to_arrow, unpack
from thalweg.runtime.distributed.exchange.message import DONE, Parcel
from thalweg.runtime.distributed.exchange.outgoing import Outbox
from thalweg.runtime.distributed.exchange.partitioning import Spread
from thalweg.runtime.distributed.ingest.arrivals import Arrivals
from thalweg.runtime.distributed.ingest.side_outputs import Aside
from thalweg.runtime.distributed.ingest.updates import Updates
from thalweg.runtime.distributed.stages import EVERYWHERE
from thalweg.runtime.distributed.worker.fragment import Fragment, Outputs
from thalweg.runtime.distributed.worker.query_spec import QuerySpec, Sources


class Now(NamedTuple):
    """What time it was before a batch and is after it, for the query and for the system."""

    before: Instant
    after: Instant
    system: int


class Part(NamedTuple):
    """A part of what the answer gained, and the strings in it."""

    batch: Batch
    pool: StringPool


class Group:
    """One group of one stage. Stage 0 also keeps what has arrived ahead of the query's time."""

    def __init__(self, spec: QuerySpec, sources: Sources, stage: int, group: int) -> None:
        self._spec, self._sources, self._group = spec, sources, group
        self._fragment = Fragment(spec.blueprint, spec.cut, stage, group)
        self._pool = self._fragment.pool
        self._arrivals: dict[int, Arrivals] = {}
        self._updates: dict[int, Updates] = {}
        if stage == 0:
            self._arrivals = {i: Arrivals(self._fragment.dated) for i in sources.streams}
            self._updates = {i: self._new_updates(i) for i in sources.tables}
        self._spreads: dict[int, Spread] = {}
        self._begun = False
        self.arrived = 0  # rows of streams in the last batch

    def _new_updates(self, port: int) -> Updates:
        node = self._sources.nodes[port]
        return Updates(node.schema, self._spec.keys.get(node.source), self._fragment.dated)

    # -- state

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "arrivals": {str(i): arrivals.snapshot() for i, arrivals in self._arrivals.items()},
            "updates": {str(i): updates.snapshot() for i, updates in self._updates.items()},
            "pipeline": self._fragment.pipeline.snapshot(),
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._begun = True
        self._fragment.pipeline.restore(tree["pipeline"])
        for i, arrivals in self._arrivals.items():
            arrivals.restore(tree["arrivals"][str(i)])
        for i, updates in self._updates.items():
            updates.restore(tree["updates"][str(i)])

    @property
    def waiting(self) -> int:
        """How many tuples are ahead of the query's time."""
        return sum(map(len, self._arrivals.values())) + sum(map(len, self._updates.values()))

    @property
    def operators(self) -> list[OperatorMetrics]:
        """What its operators have done, and hold."""
        return self._fragment.pipeline.metrics

    @property
    def counted(self) -> list[OperatorMetrics]:
        """The same, but what every group does alike counts in group 0."""
        if self._group == 0:
            return self.operators
        alike = zip(self.operators, self._fragment.alike, strict=True)
        return [OperatorMetrics(metrics.operator) if is_alike else metrics for metrics, is_alike in alike]

    # -- work

    def run(self, sent: Sequence[Parcel], now: Now, out: Outbox, aside: Aside) -> Part | None:
        """One micro-batch: the group's part of what the answer gained; what is for later stages goes into `out`."""
        self.arrived = 0
        feeds = {port: self._received(sent, port) for port in self._fragment.ports}
        due = self._due(sent, now, aside)
        feeds.update((port, batch) for port, batch in due.items() if port in feeds)
        outputs = self._begin_and_process(feeds, now.after)
        self._credit(sent)
        self._pass_on(due, out)
        self._send(outputs, out)
        return None if outputs.answer is None else Part(outputs.answer, self._pool)

    def _credit(self, sent: Sequence[Parcel]) -> None:
        """Rows that were answered where they were read count as if they had come here."""
        for told in (json.loads(bytes(parcel.blob)) for parcel in sent if parcel.port == DONE):
            self.arrived += told["arrived"]
            for metrics, counts in zip(self.operators, told["operators"], strict=True):
                metrics.add(counts)

    def _begin_and_process(self, feeds: dict[int, Batch], now: Instant) -> Outputs:
        """The first batch also tells what is there over nothing."""
        begun: Outputs | None = None
        if not self._begun:
            begun, self._begun = self._fragment.begin(*_beginning(feeds)), True
        outputs = self._fragment.process(feeds, now)
        if begun is None:
            return outputs
        ports = {i: Batch.concat([begun.ports[i], batch]) for i, batch in outputs.ports.items()}
        answer = outputs.answer
        if answer is not None and begun.answer is not None:
            answer = Batch.concat([begun.answer, answer])
        return Outputs(ports, answer)

    # -- stage 0: what arrives

    def _due(self, sent: Sequence[Parcel], now: Now, aside: Aside) -> dict[int, Batch]:
        """By port of a source: the tuples whose time has come, for this stage or a later one."""
        due: dict[int, Batch] = {}
        for port, arrivals in self._arrivals.items():
            self._take_arrivals(port, arrivals, sent, now, aside)
            due[port] = arrivals.due(now.after) or self._nothing(port)
        for port, updates in self._updates.items():
            self._take_updates(port, updates, sent, now)
            changed, unmatched = updates.due(now.after) or (self._nothing(port), self._nothing(port))
            due[port] = changed
            if len(unmatched) and self._sources.is_first(port):
                node = self._sources.nodes[port]
                aside.unmatched(node.source, unmatched, node.schema, self._pool)
        return due

    def _nothing(self, port: int) -> Batch:
        return Batch.empty(self._sources.nodes[port].schema, self._fragment.dated)

    def _take_arrivals(self, port: int, arrivals: Arrivals, sent: Sequence[Parcel], now: Now, aside: Aside) -> None:
        node = self._sources.nodes[port]
        for table in _tables(sent, port):
            needed = self._spec.needed.get(node.source, range(len(node.schema)))
            columns = brought(table, needed, node.schema, self._pool)
            self.arrived += table.num_rows * self._sources.is_first(port)
            late = arrivals.add(columns, table.column(table.num_columns - 1).to_numpy(), now.before)
            if late is not None and self._sources.is_first(port):
                aside.late(node.source, late, node.schema, self._pool)

    def _take_updates(self, port: int, updates: Updates, sent: Sequence[Parcel], now: Now) -> None:
        schema = self._sources.nodes[port].schema
        for table in _tables(sent, port):
            updates.take(table, schema, self._pool, now.before)

    # -- sending and receiving

    def _received(self, sent: Sequence[Parcel], port: int) -> Batch:
        """What an earlier stage has sent, or the shard itself."""
        schema = self._fragment.ports[port]
        if port in self._arrivals or port in self._updates:
            return Batch.empty(schema, self._fragment.dated)
        batches = [from_arrow(table, schema, self._pool) for table in _tables(sent, port)]
        if len(batches) == 1:  # it lies in a file that is mapped, and soon removed
            return batches[0].copy()
        return Batch.concat(batches) if batches else Batch.empty(schema, self._fragment.dated)

    def _pass_on(self, due: dict[int, Batch], out: Outbox) -> None:
        """Arrivals for later stages stay in their group."""
        for port, batch in due.items():
            if port not in self._fragment.ports and len(batch):
                out.put(port, to_arrow(batch, self._sources.nodes[port].schema, self._pool), self._group)

    def _send(self, outputs: Outputs, out: Outbox) -> None:
        for port, batch in outputs.ports.items():
            if not len(batch):
                continue
            schema, key = self._fragment.schema_of(port), self._spec.cut.ports[port].key
            rows = to_arrow(batch, schema, self._pool)
            if key is EVERYWHERE:
                for group in range(self._spec.groups):
                    out.put(port, rows, group)
                continue
            if not key:
                out.put(port, rows, self._group if key is None else 0)
                continue
            if port not in self._spreads:
                self._spreads[port] = Spread(key, schema, self._pool, self._spec.groups)
            out.put(port, rows, self._spreads[port].groups(batch.columns, len(batch)))


def _tables(sent: Sequence[Parcel], port: int) -> Iterator[pa.RecordBatch]:
    return (unpack(parcel.blob) for parcel in sent if parcel.port == port)


def _beginning(feeds: dict[int, Batch]) -> tuple[dict[int, Batch], Instant]:
    """What the feeds hold of before time began; it is taken out of them."""
    before: dict[int, Batch] = {}
    for port, batch in feeds.items():
        first = batch.start < BEGINNING
        before[port] = batch.take(first)
        feeds[port] = batch.take(~first)
    return before, BEGINNING - 1
