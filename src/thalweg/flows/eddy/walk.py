"""Probing: events walk through SteMs, in any order of uses (MaddenEtAl2002 §3.3.1 and 3.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.flows.eddy.bits import Words, any_bit, bitmap, count_bits
from thalweg.flows.eddy.delivered import ResultPart, Rows
from thalweg.flows.eddy.events import ArrivalCounts, IntermediateTuples, JoinEvents
from thalweg.flows.eddy.group import JoinDemand, ShapeGroup
from thalweg.flows.eddy.links import Link
from thalweg.flows.eddy.recipients import together
from thalweg.flows.eddy.routing import Policy, Work
from thalweg.flows.eddy.statistics import RoutingCounts
from thalweg.flows.eddy.stem import Stem
from thalweg.flows.eddy.stored import StoredTuples
from thalweg.kernel.sweep.pairs import pairs

_LINEAGE_WORDS_AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Walk:
    """What a walk needs: stores by stream, SteMs, the routing policy, and the counts."""

    group: ShapeGroup
    stores: Mapping[str, StoredTuples]
    stems: Mapping[str, Stem]
    arrivals: ArrivalCounts
    policy: Policy
    counts: RoutingCounts
    clock: Callable[[], float]

    def part(self, events: JoinEvents) -> ResultPart | None:
        """The results of events; recipients are summarised piece by piece."""
        pieces = [(found.event, found.met, self.group.recipients_of(found.lineage)) for found in self.results(events)]
        if not pieces:
            return None
        columns, ts = list[Rows](), list[Rows]()
        for use in range(len(self.group.segments)):
            stored = self._stored(use)
            rows = _joined([met[use] for _, met, _ in pieces]) - stored.first
            columns += [(lane, rows) for lane in stored.columns]
            ts.append((stored.ts, rows))
        at = events.at.take(_joined([event for event, _, _ in pieces]))
        recipients = together([(mine, len(event)) for event, _, mine in pieces])
        return ResultPart(self.group.outputs(), columns, recipients, at, ts, events.sign)

    def results(self, events: JoinEvents) -> Iterator[IntermediateTuples]:
        """All complete results, depth first, so that few intermediate tuples wait."""
        self.policy.begin(len(events.seq))
        yield from self._go_on(events, IntermediateTuples.of(events))

    def lanes(self, use: int, positions: Ints, columns: Sequence[int]) -> list[Lane]:
        """Some columns of tuples of a use."""
        stored = self._stored(use)
        return [stored.columns[c][positions - stored.first] for c in columns]

    def _stored(self, use: int) -> StoredTuples:
        return self.stores[self.group.shape.streams[use]]

    def _go_on(self, events: JoinEvents, partial: IntermediateTuples) -> Iterator[IntermediateTuples]:
        todo = [use for use in range(len(self.group.segments)) if use not in partial.met]
        if not todo:
            yield partial
            return
        name, use, links = self._choose(partial, todo)
        given, returned, seconds = count_bits(partial.lineage), 0, 0.0
        began = self.clock()
        for child in self._extend(events, partial, use, links):
            seconds += self.clock() - began
            returned += count_bits(child.lineage)
            yield from self._go_on(events, child)
            began = self.clock()
        work = Work(name, len(partial), given, returned, seconds + self.clock() - began)
        self.policy.learn(work)
        self.counts.add(work)

    def _choose(self, partial: IntermediateTuples, todo: Sequence[int]) -> tuple[str, int, list[Link]]:
        """The next use: one that shares an attribute with a joined use, if there is one."""
        shape = self.group.shape
        routes: dict[str, tuple[int, list[Link]]] = {}
        for use in todo:
            links = self.group.links(use, frozenset(partial.met))
            if links:
                routes.setdefault(self.stems[links[0].stem].name, (use, links))
        if not routes:
            routes[f"{shape.streams[todo[0]]} as a whole"] = (todo[0], [])
        name = self.policy.choose(list(routes))
        return (name, *routes[name])

    def _extend(
        self, events: JoinEvents, partial: IntermediateTuples, use: int, links: Sequence[Link]
    ) -> Iterator[IntermediateTuples]:
        """Join intermediate tuples with their partners of one more use."""
        step = max(256, _LINEAGE_WORDS_AT_ONCE // self.group.words)
        for i, positions in self._candidates(partial, use, links):
            for begin in range(0, len(i), step):
                piece = slice(begin, begin + step)
                met = self._met(events, partial, use, i[piece], positions[piece])
                met = self._agreeing(met, links[1:])
                for demand in self._demands(use, met.met):
                    met = self._fulfilling(met, demand)
                if len(met):
                    yield met

    def _candidates(self, partial: IntermediateTuples, use: int, links: Sequence[Link]) -> Iterator[tuple[Ints, Ints]]:
        stored = self._stored(use)
        if links:
            yield from self.stems[links[0].stem].probe(self._codes(partial, links[0]), stored.first)
        else:
            count = np.full(len(partial), len(stored))
            for i, rows in pairs(np.zeros_like(count), count):
                yield i, rows + stored.first

    def _codes(self, partial: IntermediateTuples, link: Link) -> Ints:
        other = self._stored(link.other)
        return other.codes(link.other_stem)[partial.met[link.other] - other.first]

    def _met(
        self, events: JoinEvents, partial: IntermediateTuples, use: int, i: Ints, positions: Ints
    ) -> IntermediateTuples:
        """The pairs whose partner arrived earlier, with the bits that both have and whose windows hold the partner."""
        stored, came = self._stored(use), events.sign > 0
        if len(stored) and stored.seq[-1] >= events.first:  # else all stored tuples arrived before
            seq, theirs = events.seq[partial.event[i]], stored.seq[positions - stored.first]
            known = np.flatnonzero(theirs <= seq if came and use < events.use else theirs < seq)
            i, positions = i[known], positions[known]
        event, rows = partial.event.take(i), positions - stored.first
        lineage = partial.lineage.take(i, axis=0)
        lineage &= stored.lineage(self.group.segments[use]).take(rows, axis=0)
        in_time, in_rows = self.group.within(use)
        if in_time is not None:
            lineage &= in_time.look_up(events.at.take(event) - stored.ts.take(rows))
        if in_rows is not None:
            stream = self.group.shape.streams[use]
            counted = self.arrivals.count(stream, events.seq[event], came or use < events.use)
            lineage &= in_rows.look_up(counted - stored.ordinal[rows])
        met = {other: where.take(i) for other, where in partial.met.items()}
        return _alive(IntermediateTuples(event, {**met, use: positions}, lineage))

    def _agreeing(self, partial: IntermediateTuples, links: Sequence[Link]) -> IntermediateTuples:
        """Keep the tuples whose other join attributes are equal too; NULL equals nothing."""
        for link in links:
            stored = self._stored(link.use)
            codes = stored.codes(link.stem)[partial.met[link.use] - stored.first]
            partial = partial.take((codes == self._codes(partial, link)) & (codes >= 0))
        return partial

    def _demands(self, use: int, met: Mapping[int, Ints]) -> list[JoinDemand]:
        """The demands whose columns are complete with this use."""
        found = []
        for demand in self.group.demands.values():
            uses = {self.group.use_of(column) for column in demand.condition.reads}
            if use in uses and uses <= met.keys():
                found.append(demand)
        return found

    def _fulfilling(self, partial: IntermediateTuples, demand: JoinDemand) -> IntermediateTuples:
        """Clear the bits of queries whose demand fails; it is evaluated where any of them is left."""
        making: Words = bitmap(np.array(list(demand.bits)), self.group.words)
        rows = np.flatnonzero(any_bit(partial.lineage & making))
        lanes = []
        for column in demand.condition.reads:
            use = self.group.use_of(column)
            lanes += self.lanes(use, partial.met[use][rows], [column - self.group.offsets[use]])
        failed = rows[~demand.condition.holds_on(lanes, len(rows))]
        partial.lineage[failed] &= ~making
        return _alive(partial)


def _joined(lanes: Sequence[Ints]) -> Ints:
    return lanes[0] if len(lanes) == 1 else np.concatenate(lanes)


def _alive(partial: IntermediateTuples) -> IntermediateTuples:
    """Keep the tuples with any query left."""
    alive = any_bit(partial.lineage)
    return partial if alive.all() else partial.take(alive)
