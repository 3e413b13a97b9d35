"""A shard of a flow at work: its groups, each with all queries of the flow, and in group 0 those that must see all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, to_lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.core.types import DataType
from thalweg.flows.engine import FlowEngine
from thalweg.flows.pickles import Pickles
from thalweg.runtime.shards.arrivals import Arrivals
from thalweg.runtime.shards.aside import BAD_ROWS, LATE, Aside
from thalweg.runtime.shards.clock import QueryClock
from thalweg.runtime.shards.codec import unpack
from thalweg.runtime.shards.files import map_file
from thalweg.runtime.shards.flow_spec import Command, FlowSpec
from thalweg.runtime.shards.group import Now
from thalweg.runtime.shards.parcel import BAD, COMMAND, DRAIN, FLOW, TOO_LATE, Parcel
from thalweg.runtime.shards.updates import Updates
from thalweg.state.snapshot import Tree

_ASIDE = {BAD: BAD_ROWS, TOO_LATE: LATE}
WHOLE = "whole"  # the name of the place that sees all tuples; others are called by the numbers of their groups


class FlowPart(NamedTuple):
    """A part of what the answers of some queries with equal columns gained, and the strings in it.

    `whose` says of each tuple which of the queries has gained it.
    """

    queries: list[str]
    whose: Ints
    batch: Batch
    schema: Schema
    pool: StringPool


class FlowWorker:
    """One shard. Commands take effect when the batch that brings them is done: later tuples are for the query."""

    def __init__(self, spec: FlowSpec, shard: int) -> None:
        self._spec, self._shard = spec, shard
        self._mine = spec.layouts.last.groups_of(shard, spec.groups)
        self._clock = QueryClock(spec.inputs, spec.stamped)
        self._standing: dict[str, Command] = {}
        self._pickles = Pickles()  # of those that stand
        self._places: dict[str, FlowPlace] = {}
        self._suspended: dict[str, str] = {}  # queries that have failed somewhere, and why
        self._done = -1  # the number of the last command
        self.aside = Aside()

    # -- state

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "clock": self._clock.snapshot(),
            "aside": self.aside.counts,
            "commands": self._pickles.snapshot(),
            "done": self._done,
            "suspended": dict(self._suspended),
            "groups": {name: place.snapshot() for name, place in self._places.items() if name != WHOLE},
            "whole": self._places[WHOLE].snapshot() if WHOLE in self._places else None,
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._clock.restore(tree["clock"])
        self.aside.counts = dict(tree["aside"])
        if not self._standing or not self._pickles.is_as_in(tree["commands"]):
            self._standing = self._pickles.restore(tree["commands"])
        self._done, self._suspended = tree["done"], dict(tree["suspended"])
        places = dict(tree["groups"])
        if tree["whole"] is not None and 0 in self._mine:  # after a re-sharding others may have been told of it too
            places[WHOLE] = tree["whole"]
        self._places = {name: place for name, place in self._places.items() if name in places}
        for name, state in places.items():
            if name not in self._places:
                self._places[name] = FlowPlace(self._spec, name == WHOLE)
            self._places[name].restore(state)

    def about(self) -> dict[str, Any]:
        """What people may want to know."""
        failed = {q: why for place in self._places.values() for q, why in place.suspended().items()}
        suspended = {**failed, **self._suspended}
        return {
            "now": self._clock.now,
            "began": self._clock.began,
            "latest": self._clock.latest,
            "stamped": self._spec.stamped,
            "groups": sorted(self._places),
            "arrived": sum(place.arrived for place in self._places.values()),
            "waiting": sum(place.waiting for place in self._places.values()),
            "stored": sum(place.stored for place in self._places.values()),
            "aside": self.aside.counts,
            "operators": [],
            "commands": self._done,
            "queries": len(self._standing),
            "suspended": suspended,
            "counts": _summed([place.counts() for place in self._places.values()]),
        }

    # -- work

    def run(self, parcels: Iterable[Parcel]) -> tuple[list[Parcel], list[FlowPart]]:
        """One micro-batch: the shard's parts of what answers gained, then commands."""
        sent = sorted(parcels, key=lambda parcel: (parcel.port, parcel.part, parcel.group))
        system = max((parcel.system for parcel in sent), default=0)
        now = Now(self._clock.now, self._tell_time(sent, system), system)
        received: defaultdict[str, list[Parcel]] = defaultdict(list)
        for parcel in sent:
            if parcel.port in _ASIDE:
                self.aside.told(_ASIDE[parcel.port], parcel.blob)
            elif parcel.port >= 0 and len(parcel.blob):
                received[WHOLE if self._spec.ports[parcel.port].whole else str(parcel.group)].append(parcel)
        parts: list[FlowPart] = []
        for name in sorted(self._places.keys() | received.keys()):
            parts += self._place(name).run(received[name], now, self.aside)
        self._obey(sorted((Command.read(bytes(p.blob)) for p in sent if p.port == FLOW), key=lambda c: c.number))
        return [], parts

    def _place(self, name: str) -> FlowPlace:
        """A group that begins now has missed nothing: what came before was not for it."""
        if name not in self._places:
            place = self._places[name] = FlowPlace(self._spec, name == WHOLE)
            for command in self._standing.values():
                place.obey(command, None)
        return self._places[name]

    def _obey(self, commands: Sequence[Command]) -> None:
        if commands and 0 in self._mine and any(command.whole for command in commands):
            self._place(WHOLE)
        for command in commands:
            if command.number <= self._done:
                continue  # a flow that was started anew may be told again
            self._done = command.number
            for place in self._places.values():
                place.obey(command, self._clock.now)
            if command.adds is not None:
                self._standing[command.id] = command
                self._pickles.put(command.id, command)
            elif self._standing.pop(command.id, None) is not None:
                self._pickles.drop(command.id)
            if command.suspends is not None:
                self._suspended[command.id] = command.suspends
            else:
                self._suspended.pop(command.id, None)

    def _tell_time(self, sent: Sequence[Parcel], system: int) -> Instant:
        seen: dict[str, Instant] = {}
        for parcel in sent:
            if parcel.port >= 0 and parcel.clock > BEGINNING:
                source = self._spec.ports[parcel.port].source
                seen[source] = max(parcel.clock, seen.get(source, BEGINNING))
        now = self._clock.see(seen, system)
        for parcel in sent:
            if parcel.port == COMMAND:
                now = self._clock.drain() if parcel.clock == DRAIN else self._clock.advance(parcel.clock)
        return now


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
        engine = FlowEngine()
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
        """By query, what it has seen and given."""
        engine = self._engine
        return {query: {"results": engine.metrics(query).results} for query in engine.standing}

    def obey(self, command: Command, now: Instant | None) -> None:
        """A query comes or goes; those that see all run in their place only. Without a `now` it has come before."""
        if command.adds is None:
            if command.id in self._engine.standing or command.id in self._engine.suspended:
                self._engine.drop(command.id)
        elif command.whole == self._whole:
            since = command.adds.since if now is None else now
            self._engine.add(command.adds, since)

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


def _summed(counts: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    together: dict[str, dict[str, float]] = {}
    for place in counts:
        for query, numbers in place.items():
            mine = together.setdefault(query, {})
            for name, number in numbers.items():
                mine[name] = mine.get(name, 0) + number
    return together
