"""A shard of a flow at work: its groups, each with all queries of the flow, and in group 0 those that must see all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thalweg.core.time import BEGINNING, Instant
from thalweg.flows.command import ADD, SUSPEND, Command
from thalweg.flows.texts import Texts
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.exchange.message import BAD, COMMAND, DRAIN, FLOW, TOO_LATE, Parcel
from thalweg.runtime.distributed.ingest.clock import QueryClock
from thalweg.runtime.distributed.ingest.side_outputs import BAD_ROWS, LATE, Aside
from thalweg.runtime.distributed.worker.flow_group import FlowPart, FlowPlace
from thalweg.runtime.distributed.worker.flow_spec import FlowSpec
from thalweg.runtime.distributed.worker.group import Now

_ASIDE = {BAD: BAD_ROWS, TOO_LATE: LATE}
WHOLE = "whole"  # the name of the place that sees all tuples; others are called by the numbers of their groups


class FlowWorker:
    """One shard. Commands take effect when the batch that brings them is done: later tuples are for the query."""

    def __init__(self, spec: FlowSpec, shard: int) -> None:
        self._spec, self._shard = spec, shard
        self._mine = spec.layouts.last.groups_of(shard, spec.groups)
        self._clock = QueryClock(spec.inputs, spec.stamped)
        self._standing: dict[str, Command] = {}
        self._texts = Texts(Command.line)  # of those that stand
        self._places: dict[str, FlowPlace] = {}
        self._suspended: dict[str, str] = {}  # queries that have failed somewhere, and why
        self._done = -1  # the number of the last command
        self._begins = True  # it has not been restored, and has not run
        self.aside = Aside()

    # -- state

    def snapshot(self) -> Tree:
        """All that it must remember between batches."""
        return {
            "clock": self._clock.snapshot(),
            "aside": self.aside.counts,
            "commands": self._texts.snapshot(),
            "done": self._done,
            "suspended": dict(self._suspended),
            "groups": {name: place.snapshot() for name, place in self._places.items() if name != WHOLE},
            "whole": self._places[WHOLE].snapshot() if WHOLE in self._places else None,
        }

    def restore(self, tree: Tree) -> None:
        """Go on from there."""
        self._begins = False
        self._clock.restore(tree["clock"])
        self.aside.counts = dict(tree["aside"])
        if not self._standing or not self._texts.is_as_in(tree["commands"]):
            self._standing = self._texts.restore(tree["commands"], Command.read)
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
        if self._begins:
            self._begins = False
            self._obey([Command.read(line) for line in self._spec.begin])
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
        self._obey(sorted((Command.read(bytes(p.blob)) for p in sent if p.port == FLOW), key=lambda c: c.seq))
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
            if command.seq <= self._done:
                continue  # a flow that was started anew may be told again
            self._done = command.seq
            for place in self._places.values():
                place.obey(command, self._clock.now)
            if command.command == ADD:
                self._standing[command.id] = command
                self._texts.put(command.id, command)
            elif self._standing.pop(command.id, None) is not None:
                self._texts.drop(command.id)
            if command.command == SUSPEND:
                self._suspended[command.id] = command.reason
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


def _summed(counts: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    together: dict[str, dict[str, float]] = {}
    for place in counts:
        for query, numbers in place.items():
            mine = together.setdefault(query, {})
            for name, number in numbers.items():
                mine[name] = mine.get(name, 0) + number
    return together
