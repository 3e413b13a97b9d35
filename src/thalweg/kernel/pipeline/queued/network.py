"""A pipeline whose operators are joined by queues."""

from __future__ import annotations

from collections.abc import Mapping

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.queued.queue import Item, Queue
from thalweg.kernel.pipeline.queued.scheduler import Fifo, Scheduler
from thalweg.kernel.pipeline.queued.station import Station
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.kernel.state.snapshot import Stateful, Tree


class Network(Stateful, kind="network/1"):
    """Streams and tables put tuples in at the bottom, `out` holds what has come out at the top.

    Arrivals and wake-ups must come in order of time; how far each operator has got is the scheduler's business, and
    changes when an answer is known but never what it is.
    """

    KEPT = ("_scheduler", "out", "stations")
    ADDED = ("pipeline",)

    def __init__(self, pipeline: Pipeline, strategy: Strategy, scheduler: Scheduler | None = None) -> None:
        self.pipeline = pipeline
        self._scheduler = scheduler or Fifo()
        self._piggyback = strategy is Strategy.PIGGYBACK
        self._entries: dict[str, list[Queue]] = {}
        self._by_place: dict[int, Station] = {}
        self.out = Queue(self._piggyback)
        for place, node in enumerate(pipeline.nodes):
            if node.operator is not None:
                self._add(place, strategy)
        self.stations = list(self._by_place.values())
        self._connect()

    def _add(self, place: int, strategy: Strategy) -> None:
        node, nodes = self.pipeline.nodes[place], self.pipeline.nodes
        below = [self._by_place[i] for i in node.inputs if i in self._by_place]
        nothing = Batch.empty(node.schema, self.pipeline.dated)
        late = strategy is Strategy.ITA
        station = Station(node, self.pipeline.metrics[place], below, nothing, strategy.sends_messages, late)
        station.expect([Batch.empty(nodes[i].schema, self.pipeline.dated) for i in node.inputs])
        self._by_place[place] = station

    def _connect(self) -> None:
        nodes = self.pipeline.nodes
        for place, station in self._by_place.items():
            for i in nodes[place].inputs:
                queue = Queue(self._piggyback)
                station.queues.append(queue)
                if i in self._by_place:
                    self._by_place[i].consumers.append(queue)
                else:
                    self._entries.setdefault(nodes[i].source, []).append(queue)
            if station.wakes_up:
                station.queues.append(Queue())
        top = len(nodes) - 1
        if top in self._by_place:
            self._by_place[top].consumers.append(self.out)
        else:  # the query is a stream or table as it is
            self._entries.setdefault(nodes[top].source, []).append(self.out)

    def begin(self, before: Instant) -> Batch:
        """The answer over nothing, just before anything can happen; to be called once, first."""
        results: list[Batch] = []
        for place, node in enumerate(self.pipeline.nodes):
            if node.operator is None:
                results.append(Batch.empty(node.schema, self.pipeline.dated))
            else:
                results.append(self._by_place[place].begin(before, [results[i] for i in node.inputs]))
        return results[-1]

    def snapshot(self) -> Tree:
        """What the operators remember, what waits between them, and how far each has got."""
        return super().snapshot() | {"pipeline": self.pipeline.snapshot()}

    def restore(self, tree: Tree) -> None:
        """Go on from there, in the middle of an instant if need be; `begin` must not be called."""
        self.pipeline.restore(tree["pipeline"])
        super().restore(tree)

    def arrive(self, feeds: Mapping[str, Batch], clock: Instant) -> None:
        """Tuples of streams and tables, up to and at `clock`."""
        for source, batch in feeds.items():
            for queue in self._entries.get(source, ()):
                queue.put(Item(batch, clock))

    def heartbeat(self, clock: Instant) -> None:
        """Let every operator know that time has come to `clock`."""
        for queue in (queue for queues in self._entries.values() for queue in queues):
            queue.put(Item(None, clock, flagged=True))

    def next_wake(self) -> Instant:
        """When a window wants to be woken, for it has tuples that begin or end then; FOREVER if none does."""
        return min((station.next_wake() for station in self.stations if station.wakes_up), default=FOREVER)

    def wake(self, clock: Instant) -> None:
        """Time has come to `clock`: windows see to what begins and ends."""
        for station in self.stations:
            if station.wakes_up and station.next_wake() <= clock:
                station.queues[-1].put(Item(None, clock))

    def run(self) -> None:
        """Work until there is nothing left to do."""
        while self.work():
            pass

    def work(self) -> bool:
        """Work for one turn of the scheduler; False if there is nothing to do."""
        return self._scheduler.run(self.stations)
