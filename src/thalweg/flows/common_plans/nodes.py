"""Shared nodes: each runs once for all queries that need it, and goes with the last of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from time import perf_counter

from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.common_plans.places import SharedPlaces
from thalweg.flows.common_plans.usage import Running, Usage
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.buffers import BufferSettings
from thalweg.kernel.pipeline.builder import PipelineBuilder
from thalweg.kernel.pipeline.lower import Lowering

Broken = dict[int, Exception]  # by place: the exception of a node, or of a node below it


class SharedNodes:
    """Nodes by place, inputs before the nodes that read them."""

    def __init__(self, pool: StringPool, dated: bool) -> None:
        self.total = Usage()  # of all nodes, removed ones included
        self.places = SharedPlaces()
        self._pool, self._dated = pool, dated
        self._builder = PipelineBuilder(dated, BufferSettings())
        self._running: dict[int, Running] = {}

    def __len__(self) -> int:
        return len(self._running)

    def __getitem__(self, place: int) -> Running:
        return self._running[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._running)

    def lower(self, blueprint: Blueprint, cohort: int) -> tuple[int, ...]:
        """Add the nodes that a new query needs and that are missing; returns all its nodes, the answer's last."""
        settings, builder = blueprint.settings, self._builder
        builder.settings = BufferSettings(
            settings.partitions, settings.lazy, blueprint.strategy.layout, most_results=settings.most_results
        )
        known = self.places.known(cohort, settings)
        root: int | None = None
        try:
            root = Lowering(builder, known, lambda window: True, blueprint.strategy, settings).place(blueprint.plan)
        finally:
            new = self._take_over()
            needed = () if root is None else self._below(root)
            for place in needed:
                self._running[place].users += 1
            self._sweep(new)  # removes the nodes of a plan that could not be lowered
        return needed

    def release(self, places: Iterable[int]) -> None:
        """A dropped query no longer needs these nodes."""
        for place in places:
            self._running[place].users -= 1
        self._sweep(places)

    def _take_over(self) -> list[int]:
        """Make the operators that have just been added to the builder."""
        new = list(takewhile(lambda place: place not in self._running, reversed(self._builder.nodes)))
        try:
            nodes = {place: self._builder.nodes[place].node(self._pool) for place in reversed(new)}
        except Exception:
            for place in new:
                del self._builder.nodes[place]
                self.places.forget(place)
            raise
        for place, node in nodes.items():
            self._running[place] = Running(node, Batch.empty(node.schema, self._dated))
        return new

    def _sweep(self, places: Iterable[int]) -> None:
        """Remove nodes that no query needs."""
        for place in places:
            if not self._running[place].users:
                del self._running[place], self._builder.nodes[place]
                self.places.forget(place)

    def _below(self, root: int) -> tuple[int, ...]:
        """The places of a node and all nodes below it, inputs first, in an order that depends on the plan alone."""
        found: dict[int, None] = {}
        waiting = [(root, False)]
        while waiting:
            place, inputs_done = waiting.pop()
            if inputs_done:
                found[place] = None
            elif place not in found:
                waiting.append((place, True))
                waiting += [(i, False) for i in reversed(self._running[place].node.inputs) if i not in found]
        return tuple(found)

    def run(
        self,
        places: Iterable[int],
        feed: Callable[[str], Batch | None],
        now: Instant,
        broken: Broken,
        silent: bool = False,
    ) -> dict[int, Batch]:
        """Run nodes; their changes by place. A node that raises is put into `broken`, with all nodes above it."""
        results: dict[int, Batch] = {}
        for place in places:
            running = self._running[place]
            node = running.node
            failed = next((i for i in (place, *node.inputs) if i in broken), None)
            if failed is not None:
                broken[place] = broken[failed]
                continue
            began = perf_counter()
            inputs = [results[i] for i in node.inputs]
            try:
                given = feed(node.source) if node.operator is None else running.process(inputs, now)
            except Exception as error:  # an error of one query must not harm the others
                broken[place] = error
                continue
            results[place] = running.nothing if given is None or (silent and node.emits_changes) else given
            self._count(running, len(results[place]), sum(map(len, inputs)), perf_counter() - began)
        return results

    def _count(self, running: Running, result: int, work: int, seconds: float) -> None:
        seen = 0 if running.node.operator is not None else result
        running.count(seen, work, seconds)
        self.total += Usage(seen, work * running.users, work, seconds)
