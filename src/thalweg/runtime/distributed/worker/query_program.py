"""A shard at work: what one task does with what has been sent to it in one micro-batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline.metrics import summed
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.files import map_file
from thalweg.runtime.distributed.exchange.codec import unpack
from thalweg.runtime.distributed.exchange.message import BAD, COMMAND, DONE, DRAIN, HEARTBEAT, TOO_LATE, Parcel
from thalweg.runtime.distributed.exchange.outgoing import Outbox
from thalweg.runtime.distributed.ingest.clock import QueryClock
from thalweg.runtime.distributed.ingest.routing import spread_rows
from thalweg.runtime.distributed.ingest.side_outputs import BAD_ROWS, LATE, Aside
from thalweg.runtime.distributed.worker.broadcast_tables import Everywhere
from thalweg.runtime.distributed.worker.group import Group, Now, Part
from thalweg.runtime.distributed.worker.query_spec import QuerySpec, Sources

_ASIDE = {BAD: BAD_ROWS, TOO_LATE: LATE}


class ShardWorker:
    """One shard of one stage: its groups, and what is the same in all shards, as the query's clock is.

    A group begins when something is sent to it. Before that it has nothing to say, but for group 0: what is seen as a
    whole is seen there, and has an answer over nothing too.
    """

    def __init__(self, spec: QuerySpec, stage: int, shard: int) -> None:
        self._spec, self._stage, self._shard = spec, stage, shard
        self._mine = spec.layouts.last.groups_of(shard, spec.groups)
        self._sources = Sources(spec)
        self._clock = QueryClock(spec.inputs, spec.stamped)
        self._tables = Everywhere(spec, self._sources) if stage == 0 and self._sources.everywhere else None
        self._groups: dict[int, Group] = {}
        self._begun = False
        self.aside = Aside()

    # -- state

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "clock": self._clock.snapshot(),
            "tables": None if self._tables is None else self._tables.snapshot(),
            "aside": self.aside.counts,
            "groups": {str(number): group.snapshot() for number, group in self._groups.items()},
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._begun = True
        self._clock.restore(tree["clock"])
        if self._tables is not None:
            self._tables.restore(tree["tables"])
        self.aside.counts = dict(tree["aside"])
        for number, group in tree["groups"].items():
            self._group(int(number)).restore(group)

    def about(self) -> dict[str, Any]:
        """What people may want to know."""
        operators = [group.operators for group in self._groups.values()]
        return {
            "now": self._clock.now,
            "began": self._clock.began,
            "latest": self._clock.latest,
            "stamped": self._spec.stamped,
            "groups": sorted(self._groups),
            "arrived": sum(group.arrived for group in self._groups.values()),
            "waiting": sum(group.waiting for group in self._groups.values()) + len(self._tables or ()),
            "stored": sum(metrics.stored for each in operators for metrics in each),
            "aside": self.aside.counts,
            "operators": summed([group.counted for group in self._groups.values()]),
        }

    def _group(self, number: int) -> Group:
        if number not in self._groups:
            self._groups[number] = Group(self._spec, self._sources, self._stage, number)
        return self._groups[number]

    # -- work

    def run(self, parcels: Iterable[Parcel]) -> tuple[list[Parcel], list[Part]]:
        """One micro-batch: parcels for the next stage, and the shard's parts of what the answer gained."""
        sent = sorted(parcels, key=lambda parcel: (parcel.port, parcel.part, parcel.group))
        system = max((parcel.system for parcel in sent), default=0)
        now = Now(self._clock.now, self._tell_time(sent, system), system)
        passing, received = self._sorted_out(sent, now)
        out, parts = Outbox(), []
        for number in sorted(self._groups.keys() | received.keys()):
            part = self._group(number).run(received[number], now, out, self.aside)
            if part is not None and len(part.batch):
                parts.append(part)
        heartbeat = Parcel(self._shard, HEARTBEAT, self._shard, now.after, system, b"")
        return [*passing, *out.parcels(self._shard, now.after, system), heartbeat], parts

    def _sorted_out(self, sent: Sequence[Parcel], now: Now) -> tuple[list[Parcel], defaultdict[int, list[Parcel]]]:
        """What is only passing through on its way to later stages, and what each group gets."""
        ports = self._spec.cut.ports
        waiting: list[Parcel] = []  # for the groups, which keep it until its time has come
        due = sent
        if self._stage == 0:
            for_groups = {*self._sources.spread, DONE}
            waiting = [*self._whole_tables(), *(p for p in sent if p.port in for_groups)]
            due = [] if self._tables is None else [*self._tables.parcels(sent, now, self._mine, self._aside_of_all())]
            for parcel in sent:
                if parcel.port in _ASIDE:
                    self.aside.told(_ASIDE[parcel.port], parcel.blob)
        passing = [p for p in due if p.port >= 0 and ports[p.port].stage > self._stage]
        here = [p for p in due if p.port >= 0 and ports[p.port].stage == self._stage]
        received: defaultdict[int, list[Parcel]] = defaultdict(list)
        for parcel in (*waiting, *here):
            if len(parcel.blob):
                received[parcel.group].append(parcel)
        if not self._begun and 0 in self._mine:
            received.setdefault(0, [])
        self._begun = True
        return passing, received

    def _aside_of_all(self) -> Aside | None:
        return self.aside if self._shard == 0 else None

    def _whole_tables(self) -> Iterator[Parcel]:
        """In the first batch, what tables that never change hold: each shard takes its own part."""
        for port in self._sources.spread if not self._begun else ():
            node = self._sources.nodes[port]
            if node.source in self._spec.tables:
                held, key = map_file(Path(self._spec.tables[node.source])), self._spec.cut.ports[port].key
                rows = unpack(held)
                for group, blob in spread_rows(rows, node.schema, key or (), self._spec.layouts).items():
                    if group in self._mine:
                        yield Parcel(group, port, 0, BEGINNING, 0, blob)

    def _tell_time(self, sent: Sequence[Parcel], system: int) -> Instant:
        if self._stage:
            return self._clock.advance(max((p.clock for p in sent if p.port == HEARTBEAT), default=BEGINNING))
        seen: dict[str, Instant] = {}
        for parcel in sent:
            if parcel.port in self._sources.nodes and parcel.clock > BEGINNING:
                source = self._sources.nodes[parcel.port].source
                seen[source] = max(parcel.clock, seen.get(source, BEGINNING))
        now = self._clock.see(seen, system)
        for parcel in sent:
            if parcel.port == COMMAND:
                now = self._clock.drain() if parcel.clock == DRAIN else self._clock.advance(parcel.clock)
        return now
