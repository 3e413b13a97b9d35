"""The eddy: many select-project-join queries over the same streams in one pass (MaddenEtAl2002)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from thalweg.algebra.codec import digest
from thalweg.core.batch import Batch
from thalweg.core.errors import NameNotFoundError, PlanError, SnapshotError
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.eddy.delivered import Delivered, ResultPart
from thalweg.flows.eddy.events import EddyStep, in_order
from thalweg.flows.eddy.group import ShapeGroup
from thalweg.flows.eddy.joining import Joining
from thalweg.flows.eddy.query import SpjQuery
from thalweg.flows.eddy.recipients import Listed, Recipients, together
from thalweg.flows.eddy.routing import MakePolicy, Policy, policy_maker
from thalweg.flows.eddy.shape import Shape, take_apart
from thalweg.flows.eddy.source import EddySource, Routing
from thalweg.flows.eddy.statistics import EddyStatistics
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning
from thalweg.kernel.state.snapshot import Stateful, Tree

CHUNK = 1 << 14  # tuples that are routed together; with 1 each tuple has its own route


@dataclass(frozen=True)
class _Entry:
    """A running query with its group and its bit there."""

    query: SpjQuery
    digest: str
    group: ShapeGroup
    bit: int


class Eddy(Stateful, kind="eddy/1"):
    """Each tuple carries the set of queries that may still want it; all queries that need an operator share it.

    A query sees the tuples that arrive after it was added. Its results are the same as if it ran alone, under every
    policy, batch size, chunk size and set of other queries.
    """

    KEPT = ("_layout", "_sources", "_joining")

    def __init__(
        self,
        schemas: Mapping[str, Schema],
        pool: StringPool,
        policy: str | MakePolicy = "tickets",
        skip: bool = True,
        seed: int = 0,
        *,
        chunk: int = CHUNK,
        clock: Callable[[], float] = time.perf_counter,
        tuning: EddyTuning = DEFAULT,
    ) -> None:
        """With `skip`, tuples skip filters that none of their queries needs; `seed` feeds the policies' draws."""
        self._schemas, self._pool, self._tuning = dict(schemas), pool, tuning
        self._make, self._seed, self._skip, self._chunk, self._clock = policy_maker(policy), seed, skip, chunk, clock
        self._begin()

    def _begin(self) -> None:
        self._queries: dict[int, _Entry] = {}
        self._groups: dict[Shape, ShapeGroup] = {}
        self._sources = {
            name: self._source(name, schema, place) for place, (name, schema) in enumerate(self._schemas.items())
        }
        self._joining = Joining(self._schemas, self._pool, self._policy_of, self._clock)

    def parts_with_codes(self) -> list[object]:
        """Filters and stored tuples (see `kernel/state/marking.py`)."""
        return [self._sources, self._joining]

    def know(self, stream: str, schema: Schema) -> None:
        """Declare a stream."""
        if stream not in self._schemas:
            self._sources[stream] = self._source(stream, schema, len(self._schemas))
            self._schemas[stream] = schema
            self._joining.know(stream)

    def add(self, slot: int, query: SpjQuery) -> None:
        """Run a query from now on; its results go to a slot of its own."""
        if slot in self._queries:
            raise PlanError(f"slot {slot} has a query already", hint="drop it first, or take another slot")
        self._add(slot, query, None)

    def drop(self, slot: int) -> None:
        """End a query; its slot is free at once."""
        if slot not in self._queries:
            raise NameNotFoundError(f"slot {slot} has no query", candidates=map(str, sorted(self._queries)))
        entry = self._queries.pop(slot)
        group = entry.group
        for use, stream in enumerate(group.shape.streams):
            self._sources[stream].drop((group.segments[use], entry.bit))
        group.drop(entry.bit)
        if not group.extents:
            self._close(group)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Delivered:
        """The changes of all queries, given the tuples that arrived up to and at `now`."""
        came = {name: in_order(batch) for name, batch in feeds.items() if name in self._sources and len(batch)}
        step = self._joining.begin(came)
        parts = [part for name, batch in came.items() for part in self._sift(self._sources[name], batch, step)]
        return Delivered([*parts, *self._joining.probe(step, now)])

    @property
    def stored(self) -> int:
        """How many tuples SteMs and count windows store."""
        return len(self._joining)

    @property
    def found_by_pages(self) -> int:
        """Tuples whose recipients were found by pages, since the eddy was made or restored."""
        return sum(source.found_by_pages for source in self._sources.values())

    def statistics(self) -> EddyStatistics:
        """Statistics of the operators since the start."""
        counts = [(source.counts, source.policy.shares()) for source in self._sources.values()]
        filters = [found for counts, shares in counts for found in counts.operators(shares)]
        stems = self._joining.counts.operators(
            {name: share for policy in self._joining.policies.values() for name, share in policy.shares().items()}
        )
        return EddyStatistics(
            (*filters, *stems),
            sum(counts.tuples for counts, _ in counts),
            sum(counts.visits for counts, _ in counts),
            sum(counts.possible for counts, _ in counts),
        )

    @property
    def _layout(self) -> dict[str, list[str | int]]:
        """By slot, the query's shape, its bit, and the words of its group."""
        return {str(slot): [entry.digest, entry.bit, entry.group.words] for slot, entry in self._queries.items()}

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot, in an eddy with the same queries in the same slots."""
        queries = {slot: entry.query for slot, entry in self._queries.items()}
        saved = tree["_layout"]
        here = {str(slot): entry.digest for slot, entry in self._queries.items()}
        if here != {slot: known for slot, (known, _, _) in saved.items()}:
            raise SnapshotError(
                f"the snapshot is of the queries in slots {', '.join(saved) or 'none'}; here are others, "
                f"in {', '.join(map(str, queries)) or 'none'}",
                hint="add the same queries in the same slots, then restore",
            )
        if saved != self._layout:  # else the queries and their bits are the same already
            self._begin()
            for slot, (_, bit, words) in saved.items():
                self._add(int(slot), queries[int(slot)], (bit, words))
        for group in self._groups.values():
            group.retire_rest()
        for name, source in self._sources.items():
            source.restore(tree["_sources"][name])
        self._joining.restore(tree["_joining"])

    def _add(self, slot: int, query: SpjQuery, had: tuple[int, int] | None) -> None:
        """Run a query with the bit that it had in a group of that many words, or with a new one."""
        apart = take_apart(query, self._schemas)
        group = self._groups.get(apart.shape) or self._open(apart.shape)
        while group.is_full if had is None else group.words < had[1]:
            self._make_room(group)
        bit = group.add(slot, apart, None if had is None else had[0])
        for use, stream in enumerate(group.shape.streams):
            self._sources[stream].add((group.segments[use], bit), apart.clauses[use])
        self._queries[slot] = _Entry(query, digest(query), group, bit)

    def _open(self, shape: Shape) -> ShapeGroup:
        schemas = [self._schemas[stream] for stream in shape.streams]
        group = self._groups[shape] = ShapeGroup(digest(shape)[:16], shape, schemas, self._pool, self._tuning)
        for stream, segment in zip(shape.streams, group.segments, strict=True):
            self._sources[stream].space.open(segment)
        if shape.is_stored:
            self._joining.open(group)
        return group

    def _close(self, group: ShapeGroup) -> None:
        del self._groups[group.shape]
        for stream, segment in zip(group.shape.streams, group.segments, strict=True):
            self._sources[stream].space.close(segment)
        if group.shape.is_stored:
            self._joining.close(group)

    def _make_room(self, group: ShapeGroup) -> None:
        cleared = group.make_room()
        if cleared is not None and group.shape.is_stored:
            self._joining.clear(group, cleared)
        for stream in dict.fromkeys(group.shape.streams):
            self._sources[stream].space.lay_out()

    def _sift(self, source: EddySource, tuples: Batch, step: EddyStep) -> Iterator[ResultPart]:
        """Pass a stream's tuples through its filters by chunks; then to queries that only select, or into SteMs."""
        groups = [g for g in self._groups.values() if g.shape.streams == (source.stream,) and not g.shape.is_stored]
        found: dict[str, list[tuple[Recipients, int]]] = {group.name: [] for group in groups}
        begin, stored = 0, bool(self._joining.segments(source.stream))
        for chunk in range(0, len(tuples), self._chunk) if len(source.members) else ():
            some = tuples.take(slice(chunk, chunk + self._chunk))
            for left, count in source.sift(some.columns, len(some), stored):
                if isinstance(left, Listed):
                    found[groups[0].name].append((left, count))
                else:
                    for group in groups:
                        found[group.name].append((group.recipients_of(left[:, group.segments[0].place]), count))
                    self._joining.build(step, source.stream, tuples, begin, left)
                begin += count
        columns = [(lane, None) for lane in tuples.columns]
        for group in groups if len(source.members) else ():
            yield ResultPart(
                group.outputs(), columns, together(found[group.name]), tuples.start, [(tuples.start, None)]
            )

    def _source(self, stream: str, schema: Schema, place: int) -> EddySource:
        routing = Routing(self._make(self._seed + place), self._skip, self._clock)
        return EddySource(stream, schema, self._pool, routing, self._tuning)

    def _policy_of(self, group: str) -> Policy:
        return self._make(self._seed ^ int(group, 16))
