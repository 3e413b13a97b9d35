"""A pipeline whose operators are connected by queues."""

from __future__ import annotations

from collections.abc import Mapping

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.pipeline.queued.queue import Queue, QueueItem
from thalweg.kernel.pipeline.queued.scheduler import Fifo, Scheduler
from thalweg.kernel.pipeline.queued.station import Station
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.kernel.state.snapshot import Stateful, Tree


class Network(Stateful, kind="network/1"):
    """Stations connected by queues: streams and tables feed the lowest queues, and `out` receives the answer.

    Arrivals and wake-ups must come in order of time. The scheduler decides when each operator runs, which changes when
    an answer is known, but never the answer.
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
        else:  # the plan is a single stream or table
            self._entries.setdefault(nodes[top].source, []).append(self.out)

    def begin(self, before: Instant) -> Batch:
        """The answer over empty inputs, just before the first instant. It must be called once, before all else."""
        results: list[Batch] = []
        for place, node in enumerate(self.pipeline.nodes):
            if node.operator is None:
                results.append(Batch.empty(node.schema, self.pipeline.dated))
            else:
                results.append(self._by_place[place].begin(before, [results[i] for i in node.inputs]))
        return results[-1]

    def snapshot(self) -> Tree:
        """The state of all operators, the contents of all queues, and the clocks of all stations."""
        return super().snapshot() | {"pipeline": self.pipeline.snapshot()}

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot, even one taken in the middle of an instant; `begin` must not be called."""
        self.pipeline.restore(tree["pipeline"])
        super().restore(tree)

    def arrive(self, feeds: Mapping[str, Batch], clock: Instant) -> None:
        """Feed tuples of streams and tables, up to and including `clock`."""
        for source, batch in feeds.items():
            for queue in self._entries.get(source, ()):
                queue.put(QueueItem(batch, clock))

    def heartbeat(self, clock: Instant) -> None:
        """Send a time-message to every operator: time has reached `clock`."""
        for queue in (queue for queues in self._entries.values() for queue in queues):
            queue.put(QueueItem(None, clock, flagged=True))

    def next_wake(self) -> Instant:
        """The next time at which tuples of a window start or end; FOREVER if there is none."""
        return min((station.next_wake() for station in self.stations if station.wakes_up), default=FOREVER)

    def wake(self, clock: Instant) -> None:
        """Wake the windows whose tuples start or end by `clock`."""
        for station in self.stations:
            if station.wakes_up and station.next_wake() <= clock:
                station.queues[-1].put(QueueItem(None, clock))

    def run(self) -> None:
        """Run stations until all queues are empty."""
        while self.work():
            pass

    def work(self) -> bool:
        """Let the scheduler run stations once; return False if no station could run."""
        return self._scheduler.run(self.stations)
