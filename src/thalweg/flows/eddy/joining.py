"""State of joins between steps: stored tuples, SteMs, and the probing of queries (MaddenEtAl2002 §3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.eddy.bits import Words, any_bit
from thalweg.flows.eddy.delivered import ResultPart
from thalweg.flows.eddy.events import ArrivalCounts, EddyStep, JoinEvents
from thalweg.flows.eddy.group import ShapeGroup
from thalweg.flows.eddy.links import stems_of
from thalweg.flows.eddy.members import Segment
from thalweg.flows.eddy.routing import Policy
from thalweg.flows.eddy.statistics import RoutingCounts
from thalweg.flows.eddy.stem import Coders, Stem
from thalweg.flows.eddy.stored import StoredTuples
from thalweg.flows.eddy.walk import Walk
from thalweg.kernel.state.snapshot import Stateful, Tree

_EVENTS_PER_WALK = 1 << 14


class Joining(Stateful, kind="eddy-joins/1"):
    """Tuples are first built into all SteMs of their stream, then they probe the SteMs of other streams.

    A tuple joins only with tuples of smaller sequence numbers. So each result is made once, by its latest tuple,
    whatever was built in between and whichever route the tuple takes.
    """

    KEPT = ("_next", "_came", "_coders", "counts", "stores", "stems", "policies")

    def __init__(
        self,
        schemas: Mapping[str, Schema],
        pool: StringPool,
        policy: Callable[[str], Policy],
        clock: Callable[[], float],
    ) -> None:
        self._schemas, self._pool = schemas, pool
        self._policy, self._clock = policy, clock
        self._next = 0  # sequence number
        self._came: dict[str, int] = dict.fromkeys(schemas, 0)
        self._coders = Coders()
        self.counts = RoutingCounts()
        self.stores: dict[str, StoredTuples] = {}
        self.stems: dict[str, Stem] = {}
        self.policies: dict[str, Policy] = {}
        self._groups: dict[str, ShapeGroup] = {}

    def parts_with_codes(self) -> list[object]:
        """Stored tuples and their keys (see `kernel/state/marking.py`)."""
        return [self.stores, self.stems, self._coders]

    def know(self, stream: str) -> None:
        """Declare a stream."""
        self._came.setdefault(stream, 0)

    def __len__(self) -> int:
        return sum(map(len, self.stores.values()))

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot with the same groups."""
        self._next, self._came = tree["_next"], dict(tree["_came"])
        self._coders.restore(tree["_coders"])
        self.counts.restore(tree["counts"])
        kept: tuple[Mapping[str, Stateful], ...] = (self.stores, self.stems, self.policies)
        for parts, name in zip(kept, ("stores", "stems", "policies"), strict=True):
            for key, part in parts.items():
                part.restore(tree[name][key])

    def open(self, group: ShapeGroup) -> None:
        """Make the stores and SteMs that a group needs and that are missing."""
        self._groups[group.name] = group
        self.policies[group.name] = self._policy(group.name)
        for stream in group.shape.streams:
            self.stores.setdefault(stream, StoredTuples(self._schemas[stream]))
        for key, stream, values in stems_of(group.shape):
            if key not in self.stems:
                self.stems[key] = Stem(stream, self._schemas[stream], values, self._pool)

    def close(self, group: ShapeGroup) -> None:
        """Remove the stores and SteMs that only this group needed."""
        del self._groups[group.name], self.policies[group.name]
        shapes = [other.shape for other in self._groups.values()]
        for use, stream in enumerate(group.shape.streams):
            if any(stream in shape.streams for shape in shapes):
                self.stores[stream].close(group.segments[use])
            else:
                self.stores.pop(stream, None)
        needed = {key for shape in shapes for key, _, _ in stems_of(shape)}
        for key in [key for key in self.stems if key not in needed]:
            stream = self.stems.pop(key).stream
            if stream in self.stores:
                self.stores[stream].forget_stem(key)

    def clear(self, group: ShapeGroup, bits: Words) -> None:
        """Clear the bits of dropped queries in all stored tuples."""
        for stream, segment in zip(group.shape.streams, group.segments, strict=True):
            self.stores[stream].clear(segment, bits)

    def segments(self, stream: str) -> list[Segment]:
        """The segments of a stream whose tuples are stored."""
        return [
            segment
            for group in self._groups.values()
            for name, segment in zip(group.shape.streams, group.segments, strict=True)
            if name == stream
        ]

    def begin(self, feeds: Mapping[str, Batch]) -> EddyStep:
        """Number the tuples of a step: by time, and at one time by stream and order of arrival."""
        ts = np.concatenate([np.empty(0, dtype=np.int64), *(batch.start for batch in feeds.values())])
        seq = np.arange(self._next, self._next + len(ts))
        if len(feeds) > 1:
            seq[np.argsort(ts, kind="stable")] = seq.copy()
        self._next += len(ts)
        ends = np.cumsum([len(batch) for batch in feeds.values()]).tolist()
        seqs = {stream: seq[end - len(batch) : end] for (stream, batch), end in zip(feeds.items(), ends, strict=True)}
        first = {stream: stored.first + len(stored) for stream, stored in self.stores.items()}
        step = EddyStep({stream: batch.start for stream, batch in feeds.items()}, seqs, dict(self._came), first)
        for stream, batch in feeds.items():
            self._came[stream] += len(batch)
        return step

    def build(self, step: EddyStep, stream: str, tuples: Batch, begin: int, lineage: Words) -> None:
        """Store a stream's tuples from row `begin` on that a query may need, and build them into SteMs."""
        segments = self.segments(stream)
        if not segments:
            return
        wanted = reduce(np.logical_or, [any_bit(lineage[:, segment.place]) for segment in segments])
        piece, stored = slice(begin, begin + len(lineage)), self.stores[stream]
        tuples, seq = tuples.take(piece), step.seqs[stream][piece]
        ordinal = np.arange(step.came[stream] + 1 + begin, step.came[stream] + 1 + piece.stop)
        if not wanted.all():
            rows = wanted.nonzero()[0]
            if not len(rows):
                return
            tuples, seq, ordinal, lineage = tuples.take(rows), seq[rows], ordinal[rows], lineage[rows]
        stems = {key: stem for key, stem in self.stems.items() if stem.stream == stream}
        codes = {key: stem.codes(tuples.columns, len(tuples), self._coders) for key, stem in stems.items()}
        bits = {segment: lineage[:, segment.place] for segment in segments}
        positions = stored.append(tuples, ordinal, seq, bits, codes)
        for key, stem in stems.items():
            stem.build(codes[key], positions, stored.first)

    def probe(self, step: EddyStep, now: Instant) -> Iterator[ResultPart]:
        """The results of all queries; then tuples that no window needs are dropped."""
        arrivals = ArrivalCounts(step.came, step.seqs)
        for group in self._groups.values():
            policy = self.policies[group.name]
            walk = Walk(group, self.stores, self.stems, arrivals, policy, self.counts, self._clock)
            for events in self._events(group, step):
                for begin in range(0, len(events.seq), _EVENTS_PER_WALK):
                    part = walk.part(events.take(slice(begin, begin + _EVENTS_PER_WALK)))
                    if part is not None:
                        yield part
        for stream, stored in self.stores.items():
            self._forget(stream, stored, now)
        self._coders.forget(self.stems, lambda stem: self.stores[stem.stream].codes(stem.key))

    def _events(self, group: ShapeGroup, step: EddyStep) -> Iterator[JoinEvents]:
        for use, (stream, segment) in enumerate(zip(group.shape.streams, group.segments, strict=True)):
            stored = self.stores[stream]
            lineage = stored.lineage(segment)
            new = slice(step.first[stream] - stored.first, len(stored))
            if new.start < new.stop:
                positions = np.arange(step.first[stream], stored.first + len(stored))
                yield _some(JoinEvents(use, positions, stored.seq[new], stored.ts[new], lineage[new], 1))
            for rows, bits in group.row_counts(use).items() if stream in step.seqs else ():
                yield from self._leaving(step, stream, use, lineage, rows, bits)

    def _leaving(
        self, step: EddyStep, stream: str, use: int, lineage: Words, rows: int, bits: Words
    ) -> Iterator[JoinEvents]:
        """The tuples that leave windows of this many rows when others arrive."""
        stored = self.stores[stream]
        left = step.came[stream] + 1 + np.arange(len(step.seqs[stream])) - rows
        place = np.minimum(np.searchsorted(stored.ordinal, left), len(stored) - 1)
        known = np.flatnonzero(stored.ordinal[place] == left) if len(stored) else place[:0]
        place = place[known]
        at = step.ts[stream][known]
        yield _some(JoinEvents(use, place + stored.first, step.seqs[stream][known], at, lineage[place] & bits, -1))

    def _forget(self, stream: str, stored: StoredTuples, now: Instant) -> None:
        uses = [(g, u) for g in self._groups.values() for u, name in enumerate(g.shape.streams) if name == stream]
        extents = [group.largest(use) for group, use in uses]
        since = now - max(extent.width for extent in extents)
        number = self._came[stream] - max(extent.rows for extent in extents)
        if not len(stored) or stored.ts[0] > since or stored.ordinal[0] > number:  # the usual case with long windows
            return
        stored.forget(int(min(stored.ts.searchsorted(since, "right"), stored.ordinal.searchsorted(number, "right"))))
        for stem in self.stems.values():
            if stem.stream == stream:
                stem.forget(stored.first)


def _some(events: JoinEvents) -> JoinEvents:
    alive = any_bit(events.lineage)
    return events if alive.all() else events.take(np.flatnonzero(alive))
