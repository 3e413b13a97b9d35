"""A shard at work: what one task does with what has been sent to it in one micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Lane, null_lane, to_lane
from thalweg.core.schema import Schema
from thalweg.core.time import BEGINNING, Instant
from thalweg.planner.blueprint import Blueprint
from thalweg.planner.shards import Cut
from thalweg.runtime.shards.arrivals import Arrivals
from thalweg.runtime.shards.aside import BAD_ROWS, LATE, Aside
from thalweg.runtime.shards.clock import InputTime, QueryClock
from thalweg.runtime.shards.codec import from_arrow, pack, to_arrow, unpack
from thalweg.runtime.shards.files import map_file
from thalweg.runtime.shards.fragment import Fragment, Outputs
from thalweg.runtime.shards.parcel import BAD, COMMAND, DRAIN, HEARTBEAT, TOO_LATE, Parcel
from thalweg.runtime.shards.reading import is_spread
from thalweg.runtime.shards.spread import Spread, by_shard
from thalweg.runtime.shards.updates import Updates
from thalweg.state.snapshot import Tree

_ASIDE = {BAD: BAD_ROWS, TOO_LATE: LATE}


@dataclass(frozen=True)
class QuerySpec:
    """Everything about a query that its tasks need to know."""

    blueprint: Blueprint
    cut: Cut
    shards: int
    inputs: dict[str, InputTime]  # by source
    stamped: bool  # ticks are microseconds
    tables: dict[str, str]  # by relation: the file with what it held when the query began
    keys: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by relation that changes: its primary key
    needed: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by stream: the columns that come; else all do

    @property
    def stages(self) -> int:
        """How many stages there are."""
        return max(1, len(self.cut.stages))


class ShardWorker:
    """One shard of one stage. Stage 0 also keeps the query's clock and what has arrived ahead of it."""

    def __init__(self, spec: QuerySpec, stage: int, shard: int) -> None:
        self._spec, self._stage, self._shard = spec, stage, shard
        self._fragment = Fragment(spec.blueprint, spec.cut, stage, shard)
        nodes = spec.blueprint.build().nodes
        self._sources = {i: nodes[p.node] for i, p in enumerate(spec.cut.ports) if p.origin is None}
        self._clock = QueryClock(spec.inputs, spec.stamped)
        self._arrivals: dict[int, Arrivals] = {}
        self._updates: dict[int, Updates] = {}
        if stage == 0:
            streams = {i for i, node in self._sources.items() if node.source in spec.inputs}
            self._arrivals = {i: Arrivals(self._fragment.dated) for i in sorted(streams)}
            self._updates = {i: self._new_updates(i) for i in sorted(self._sources.keys() - streams)}
        self._spreads: dict[int, Spread] = {}
        self._begun = False
        self.aside = Aside()
        self.pool = self._fragment.pool

    def _new_updates(self, port: int) -> Updates:
        node = self._sources[port]
        return Updates(node.schema, self._spec.keys.get(node.source), self._fragment.dated)

    # -- state

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "begun": self._begun,
            "clock": self._clock.snapshot(),
            "arrivals": {str(i): arrivals.snapshot() for i, arrivals in self._arrivals.items()},
            "updates": {str(i): updates.snapshot() for i, updates in self._updates.items()},
            "pipeline": self._fragment.pipeline.snapshot(),
            "aside": self.aside.counts,
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._begun = tree["begun"]
        self._clock.restore(tree["clock"])
        self._fragment.pipeline.restore(tree["pipeline"])
        for i, arrivals in self._arrivals.items():
            arrivals.restore(tree["arrivals"][str(i)])
        for i, updates in self._updates.items():
            updates.restore(tree["updates"][str(i)])
        self.aside.counts = dict(tree["aside"])

    def about(self) -> dict[str, Any]:
        """What people may want to know."""
        pipeline = self._fragment.pipeline
        return {
            "now": self._clock.now,
            "latest": self._clock.latest,
            "stamped": self._spec.stamped,
            "waiting": sum(map(len, self._arrivals.values())) + sum(map(len, self._updates.values())),
            "stored": pipeline.stored,
            "aside": self.aside.counts,
            "operators": [vars(m).copy() for m in pipeline.metrics],
        }

    # -- work

    def run(self, parcels: Iterable[Parcel]) -> tuple[list[Parcel], Batch | None]:
        """One micro-batch: parcels for the next stage, and the shard's part of what the answer gained."""
        sent = sorted(parcels, key=lambda parcel: (parcel.port, parcel.part))
        system = max((parcel.system for parcel in sent), default=0)
        relayed = [p for p in sent if p.port >= 0 and self._spec.cut.ports[p.port].stage > self._stage]
        if self._stage == 0:
            before = self._clock.now
            now = self._tell_time(sent, system)
            feeds, passing = self._take_arrivals(sent, before, now)
            relayed = [*self._passed(passing, now, system)]
        else:
            now = self._clock.advance(max((p.clock for p in sent if p.port == HEARTBEAT), default=BEGINNING))
            feeds = {port: self._received(sent, port) for port in self._fragment.ports}
        outputs = self._begin_and_process(feeds, now)
        out = [*relayed, *self._packed(outputs, now, system)]
        out.append(Parcel(self._shard, HEARTBEAT, self._shard, now, system, b""))
        return out, outputs.answer

    def _begin_and_process(self, feeds: dict[int, Batch], now: Instant) -> Outputs:
        """The first batch also tells what is there over nothing."""
        begun: Outputs | None = None
        if not self._begun:
            begun, self._begun = self._fragment.begin(*self._beginning(feeds)), True
        outputs = self._fragment.process(feeds, now)
        if begun is None:
            return outputs
        ports = {i: Batch.concat([begun.ports[i], batch]) for i, batch in outputs.ports.items()}
        answer = outputs.answer
        if answer is not None and begun.answer is not None:
            answer = Batch.concat([begun.answer, answer])
        return Outputs(ports, answer)

    def _beginning(self, feeds: dict[int, Batch]) -> tuple[dict[int, Batch], Instant]:
        """What the feeds hold of before time began; it is taken out of them."""
        before: dict[int, Batch] = {}
        for port, batch in feeds.items():
            first = batch.start < BEGINNING
            before[port] = batch.take(first)
            feeds[port] = batch.take(~first)
        return before, BEGINNING - 1

    # -- stage 0: arrivals and time

    def _tell_time(self, sent: Sequence[Parcel], system: int) -> Instant:
        seen: dict[str, Instant] = {}
        for parcel in sent:
            if parcel.port in self._sources and parcel.clock > BEGINNING:
                source = self._sources[parcel.port].source
                seen[source] = max(parcel.clock, seen.get(source, BEGINNING))
        now = self._clock.see(seen, system)
        for parcel in sent:
            if parcel.port == COMMAND:
                now = self._clock.drain() if parcel.clock == DRAIN else self._clock.advance(parcel.clock)
        return now

    def _take_arrivals(
        self, sent: Sequence[Parcel], before: Instant, now: Instant
    ) -> tuple[dict[int, Batch], dict[int, Batch]]:
        """The tuples of each source port that are due, for this stage and for later ones."""
        here: dict[int, Batch] = {}
        later: dict[int, Batch] = {}
        for port, arrivals in self._arrivals.items():
            schema, name = self._sources[port].schema, self._sources[port].source
            for parcel in sent:
                if parcel.port == port and len(parcel.blob):
                    table = unpack(parcel.blob)
                    columns = self._lanes(table, name, schema)
                    ts = table.column(table.num_columns - 1).to_numpy()
                    late = arrivals.add(columns, ts, before)
                    if late is not None and self._is_first_port(port):
                        self.aside.late(name, late, schema, self._fragment.pool)
            due = arrivals.due(now)
            batch = Batch.empty(schema, self._fragment.dated) if due is None else due
            (here if port in self._fragment.ports else later)[port] = batch
        for port, updates in self._updates.items():
            self._take_updates(port, updates, sent, before)
            (here if port in self._fragment.ports else later)[port] = self._changed(port, updates, now)
        for parcel in sent:
            if parcel.port in _ASIDE:
                self.aside.told(_ASIDE[parcel.port], parcel.blob)
        return here, later

    def _lanes(self, table: pa.RecordBatch, stream: str, schema: Schema) -> list[Lane]:
        """All columns of a stream's tuples, those that were not brought along as NULLs."""
        lanes = [null_lane(field.type, table.num_rows) for field in schema]
        for place, column in enumerate(self._spec.needed.get(stream, range(len(schema)))):
            lanes[column] = to_lane(table.column(place), schema[column].type, self._fragment.pool)
        return lanes

    def _take_updates(self, port: int, updates: Updates, sent: Sequence[Parcel], before: Instant) -> None:
        """What a table held when the query began, and what it has gained and lost since."""
        schema, pool = self._sources[port].schema, self._fragment.pool
        blobs = [parcel.blob for parcel in sent if parcel.port == port and len(parcel.blob)]
        whole = not self._begun and self._sources[port].source in self._spec.tables
        if whole:
            blobs.insert(0, map_file(Path(self._spec.tables[self._sources[port].source])))
        for place, blob in enumerate(blobs):
            table = unpack(blob)
            columns = [to_lane(table.column(i), field.type, pool) for i, field in enumerate(schema)]
            time, sign = (table.column(len(schema) + i).to_numpy() for i in (0, 1))
            if place == 0 and whole:  # the whole table comes to every shard, which takes its own part
                mine = self._mine(port, columns, len(time))
                columns, time, sign = [lane[mine] for lane in columns], time[mine], sign[mine]
            updates.add(columns, time, sign.astype("int64"), before)

    def _changed(self, port: int, updates: Updates, now: Instant) -> Batch:
        """What a table has gained and lost up to `now` of the rows that belong to this shard."""
        schema, name = self._sources[port].schema, self._sources[port].source
        due = updates.due(now)
        if due is None:
            return Batch.empty(schema, self._fragment.dated)
        changed, unmatched = due
        everywhere = not is_spread(self._spec.cut.ports[port].key, self._spec.keys.get(name, ()))
        if everywhere:
            changed = changed.take(self._mine(port, changed.columns, len(changed)))
        if len(unmatched) and self._is_first_port(port) and not (everywhere and self._shard):
            self.aside.unmatched(name, unmatched, schema, self.pool)
        return changed

    def _mine(self, port: int, columns: Sequence[Lane], rows: int) -> Flags:
        """Which rows of a table belong to this shard."""
        spread = Spread(self._spec.cut.ports[port].key or (), self._sources[port].schema, self.pool, self._spec.shards)
        return np.equal(spread.shards(columns, rows), self._shard)

    def _is_first_port(self, port: int) -> bool:
        """A source that comes in by several ports has its late tuples counted at the first."""
        name = self._sources[port].source
        return port == min(i for i, node in self._sources.items() if node.source == name)

    # -- sending and receiving

    def _received(self, sent: Sequence[Parcel], port: int) -> Batch:
        schema = self._fragment.ports[port]
        blobs = [parcel.blob for parcel in sent if parcel.port == port and len(parcel.blob)]
        batches = [from_arrow(unpack(blob), schema, self._fragment.pool) for blob in blobs]
        return Batch.concat(batches) if batches else Batch.empty(schema, self._fragment.dated)

    def _passed(self, passing: dict[int, Batch], now: Instant, system: int) -> Iterator[Parcel]:
        """Arrivals for later stages stay in their shard."""
        for port, batch in passing.items():
            if len(batch):
                blob = pack(to_arrow(batch, self._sources[port].schema, self._fragment.pool))
                yield Parcel(self._shard, port, self._shard, now, system, blob)

    def _packed(self, outputs: Outputs, now: Instant, system: int) -> Iterator[Parcel]:
        for port, batch in outputs.ports.items():
            if not len(batch):
                continue
            schema, key = self._fragment.schema_of(port), self._spec.cut.ports[port].key
            if key is None:
                blob = pack(to_arrow(batch, schema, self._fragment.pool))
                yield Parcel(self._shard, port, self._shard, now, system, blob)
                continue
            if port not in self._spreads:
                self._spreads[port] = Spread(key, schema, self._fragment.pool, self._spec.shards)
            shards = self._spreads[port].shards(batch.columns, len(batch))
            for shard, rows in enumerate(by_shard(shards, self._spec.shards)):
                some = batch.take(rows)
                if len(some):
                    blob = pack(to_arrow(some, schema, self._fragment.pool))
                    yield Parcel(shard, port, self._shard, now, system, blob)
