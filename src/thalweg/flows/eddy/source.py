"""A stream in the eddy: its queries, its grouped filters, and the route of its tuples through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Expression, column, map_columns
from thalweg.core.lanes import Ints, Lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.flows.eddy.bits import Words, count_bits
from thalweg.flows.eddy.block import LineageBlock, Stop, TupleChunk
from thalweg.flows.eddy.grouped_filter import ALL, GroupedFilter
from thalweg.flows.eddy.members import Member, MemberSet, Space
from thalweg.flows.eddy.pages import Pages
from thalweg.flows.eddy.predicates import disjuncts
from thalweg.flows.eddy.recipients import Listed
from thalweg.flows.eddy.routing import Policy
from thalweg.flows.eddy.statistics import RoutingCounts
from thalweg.flows.eddy.tuning import DEFAULT, EddyTuning
from thalweg.kernel.state.snapshot import Stateful


@dataclass(frozen=True)
class Routing:
    """How tuples are routed: the policy, whether they skip operators that they do not need, and the clock."""

    policy: Policy
    skip: bool = True
    clock: Callable[[], float] = time.perf_counter


class EddySource(Stateful, kind="eddy-source/1"):
    """Lineage starts with the bits of all queries over the stream; grouped filters clear some (MaddenEtAl2002 §3.2.2).

    A tuple is done when every remaining query has applied all its operators.
    """

    KEPT = ("policy", "counts")

    def __init__(
        self, stream: str, schema: Schema, pool: StringPool, routing: Routing, tuning: EddyTuning = DEFAULT
    ) -> None:
        self.stream, self.schema = stream, schema
        self.space = Space()
        self.members = MemberSet(self.space)
        self.policy, self.counts = routing.policy, RoutingCounts()
        self._skip, self._clock = routing.skip, routing.clock
        self._pool, self._tuning = pool, tuning
        self.filters: dict[Expression, GroupedFilter] = {}
        self._clauses: dict[int, MemberSet] = {}  # by layer, the members with such a clause
        self._of: dict[Member, list[GroupedFilter]] = {}
        self._pages: Pages | None = None
        self.found_by_pages = 0  # tuples
        self._calm = 0  # tuples since the last query was added or dropped

    def parts_with_codes(self) -> list[object]:
        """The filters (see `kernel/state/marking.py`)."""
        return list(self.filters.values())

    def add(self, member: Member, clauses: Sequence[Expression]) -> None:
        """Add a use of a query with its clauses over the stream's columns."""
        self._pages, self._calm = None, 0
        self.members.add(member)
        layer = ALL
        for clause in clauses:
            parts = disjuncts(clause, self._pool)
            if len(parts) > 1:
                layer += 1
                self._clauses.setdefault(layer, MemberSet(self.space)).add(member)
            for attribute, values in parts:
                found = self._filter(attribute)
                found.add(member, layer if len(parts) > 1 else ALL, values)
                self._of.setdefault(member, []).append(found)

    def drop(self, member: Member) -> None:
        """Remove a use, and filters that no query needs."""
        self._pages, self._calm = None, 0
        self.members.discard(member)
        for having in self._clauses.values():
            having.discard(member)
        for grouped in self._of.pop(member, ()):
            grouped.drop(member)
            if not len(grouped.needs):
                self.filters.pop(grouped.attribute, None)

    def sift(self, columns: Sequence[Lane], count: int, stored: bool = True) -> Iterator[tuple[Words | Listed, int]]:
        """Pass a chunk of tuples through all filters, in blocks; the first block finds the route for all.

        Returns their lineage; or, unless they are to be `stored`, their recipients.
        """
        pages = None if stored else self._settled(count)
        self.policy.begin(count)
        self.counts.begin(count, len(self.filters))
        having = {layer: members.row() for layer, members in self._clauses.items() if len(members)}
        size = max(1, self._tuning.block_words // max(1, self.space.width))
        route: list[Stop] = []
        chunk, done = TupleChunk(columns, count), 0
        while done < count:
            rows = slice(done, min(count, done + (size if pages is None else self._tuning.tuples_before_pages)))
            block, done = LineageBlock(chunk, rows, self.members.row(), having), rows.stop
            self._walk(block, route)
            yield block.lineage, len(block)
            if pages is not None and done < count and self._may_be_listed(block, route):
                yield self._list(pages, chunk, slice(done, count), route), count - done
                done = count
            pages = None

    def _settled(self, count: int) -> Pages | None:
        """The pages, if many queries only select and have not changed for long enough to pay for building them."""
        calm, self._calm = self._calm, self._calm + count
        if self._pages is None and self.space.width >= self._tuning.pages_from_words and calm >= len(self.members):
            whole = [grouped.whole() for grouped in self.filters.values()]
            known = [steps for steps in whole if steps is not None]
            if len(known) == len(whole):
                self._pages = Pages(self.members.numbers(), known, self._tuning)
        return self._pages

    def _may_be_listed(self, block: LineageBlock, route: Sequence[Stop]) -> bool:
        """Whether all tuples visit all filters, and each tuple has few recipients."""
        if not self._skip or len(route) < len(self.filters) or any(stop.by_most is False for stop in route):
            return False
        some = block.some(None)
        return count_bits(some) <= self._tuning.pages_up_to_bits * self.space.width * len(some)

    def _list(self, pages: Pages, chunk: TupleChunk, rows: slice, route: Sequence[Stop]) -> Listed:
        """The recipients of tuples, by the pages; the filters' work is estimated from the first block."""
        began, count = self._clock(), rows.stop - rows.start
        pieces = [chunk.all(grouped)[0][2][rows] for grouped in self.filters.values()]
        found = pages.look_up(pieces, count)
        self.found_by_pages += count
        seconds = (self._clock() - began) / max(1, len(route))
        for stop in route:
            self._report(stop, count, seconds)
        return found

    def _walk(self, block: LineageBlock, route: list[Stop]) -> None:
        """Send a block along the route of earlier blocks, and further if needed."""
        todo = {grouped.name: grouped for grouped in self.filters.values()}
        rows: Ints | None = None  # all
        for place in range(len(todo)):
            if not self._skip:
                rows = block.with_any(np.bitwise_or.reduce([grouped.needs.row() for grouped in todo.values()]))
                if not len(rows):
                    break
            if place == len(route):
                route.append(Stop(self.policy.choose(list(todo))))
            stop = route[place]
            grouped = todo.pop(stop.operator)
            if self._skip and place:
                rows = self._needing(block, grouped, stop)
            if rows is None or len(rows):
                self._visit(block, grouped, stop, rows, todo.values())
            block.decide(todo.values())
        block.decide(())

    def _needing(self, block: LineageBlock, grouped: GroupedFilter, stop: Stop) -> Ints | None:
        """The tuples that need a filter; all of them if most tuples of a sample do."""
        if stop.by_most is None:
            stop.by_most = len(block) > 1 and block.mostly_have(grouped.needs.row())
        return None if stop.by_most else block.with_any(grouped.needs.row())

    def _visit(
        self,
        block: LineageBlock,
        grouped: GroupedFilter,
        stop: Stop,
        rows: Ints | None,
        to_come: Iterable[GroupedFilter],
    ) -> None:
        began, before = self._clock(), block.some(rows)
        block.apply(grouped, rows)
        if stop.rates is None:
            stop.learn(before, block.some(rows), grouped.needs.row(), [other.needs.row() for other in to_come])
        self._report(stop, len(block) if rows is None else len(rows), self._clock() - began)

    def _report(self, stop: Stop, count: int, seconds: float) -> None:
        work = stop.work(count, seconds)
        self.policy.learn(work)
        self.counts.add(work)

    def _filter(self, attribute: Expression) -> GroupedFilter:
        if attribute not in self.filters:
            shown = map_columns(attribute, lambda c: column(self.schema, c.index))
            name = f"{self.stream}.{shown}"
            taken = {grouped.name for grouped in self.filters.values()}
            if name in taken:
                name += f" ({len(self.filters)})"
            self.filters[attribute] = GroupedFilter(name, attribute, self.schema, self._pool, self.space, self._tuning)
        return self.filters[attribute]
