"""A stream in the eddy: its queries, its grouped filters, and the way of its tuples through them."""

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
from thalweg.flows.eddy.block import SAMPLE, Block, Chunk, Stop
from thalweg.flows.eddy.grouped_filter import ALL, GroupedFilter
from thalweg.flows.eddy.members import Member, MemberSet, Space
from thalweg.flows.eddy.pages import Pages
from thalweg.flows.eddy.predicates import disjuncts
from thalweg.flows.eddy.routing import Policy
from thalweg.flows.eddy.statistics import RoutingCounts
from thalweg.flows.eddy.whose import Listed
from thalweg.kernel.state.snapshot import Stateful

_CELLS = 1 << 16  # words of lineage of a block: it should stay in the cache
_WIDE = 64  # words of lineage from which on pages are faster ...
_FEW = 1  # ... if a tuple has no more bits left for each of them


@dataclass(frozen=True)
class Ways:
    """How tuples find their way: who decides, whether operators that nobody needs are skipped, and the time."""

    policy: Policy
    skip: bool = True
    clock: Callable[[], float] = time.perf_counter


class Source(Stateful, kind="eddy-source/1"):
    """Lineage starts with the bits of all queries over the stream; grouped filters clear some (MaddenEtAl2002 §3.2.2).

    A tuple leaves when all queries whose bits are left have seen all their operators.
    """

    KEPT = ("policy", "counts")

    def __init__(self, stream: str, schema: Schema, pool: StringPool, ways: Ways) -> None:
        self.stream, self.schema = stream, schema
        self.space = Space()
        self.members = MemberSet(self.space)
        self.policy, self.counts = ways.policy, RoutingCounts()
        self._skip, self._clock = ways.skip, ways.clock
        self._pool = pool
        self.filters: dict[Expression, GroupedFilter] = {}
        self._clauses: dict[int, MemberSet] = {}  # by layer those that have such a clause
        self._of: dict[Member, list[GroupedFilter]] = {}
        self._pages: Pages | None = None
        self._calm = 0  # tuples since queries last came or went

    def add(self, member: Member, clauses: Sequence[Expression]) -> None:
        """A use of a query, and the clauses over the stream's columns that its tuples must fulfil."""
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
        """Take a use out again; a filter that nobody needs goes too."""
        self._pages, self._calm = None, 0
        self.members.discard(member)
        for having in self._clauses.values():
            having.discard(member)
        for grouped in self._of.pop(member, ()):
            grouped.drop(member)
            if not len(grouped.needs):
                self.filters.pop(grouped.attribute, None)

    def sift(self, columns: Sequence[Lane], count: int, stored: bool = True) -> Iterator[tuple[Words | Listed, int]]:
        """A chunk of tuples after all filters, in blocks of so many: the first finds the way for all.

        Their lineage; or, unless they are to be `stored`, who gets which of them.
        """
        pages = None if stored else self._settled(count)
        self.policy.begin(count)
        self.counts.begin(count, len(self.filters))
        having = {layer: members.row() for layer, members in self._clauses.items() if len(members)}
        size = max(1, _CELLS // max(1, self.space.width))
        route: list[Stop] = []
        chunk, done = Chunk(columns, count), 0
        while done < count:
            rows = slice(done, min(count, done + (size if pages is None else SAMPLE)))
            block, done = Block(chunk, rows, self.members.row(), having), rows.stop
            self._walk(block, route)
            yield block.lineage, len(block)
            if pages is not None and done < count and self._may_be_listed(block, route):
                yield self._list(pages, chunk, slice(done, count), route), count - done
                done = count
            pages = None

    def _settled(self, count: int) -> Pages | None:
        """Pages, if many queries only select and have not changed for so many tuples that it is worth while."""
        calm, self._calm = self._calm, self._calm + count
        if self._pages is None and self.space.width >= _WIDE and calm >= len(self.members):
            whole = [grouped.whole() for grouped in self.filters.values()]
            known = [steps for steps in whole if steps is not None]
            if len(known) == len(whole):
                self._pages = Pages(self.members.numbers(), known)
        return self._pages

    def _may_be_listed(self, block: Block, route: Sequence[Stop]) -> bool:
        """Whether all tuples visit all filters, and few queries want one."""
        if not self._skip or len(route) < len(self.filters) or any(stop.by_most is False for stop in route):
            return False
        some = block.some(None)
        return count_bits(some) <= _FEW * self.space.width * len(some)

    def _list(self, pages: Pages, chunk: Chunk, rows: slice, route: Sequence[Stop]) -> Listed:
        """Who gets which of some tuples; what the filters have done is told by what the first block has shown."""
        began, count = self._clock(), rows.stop - rows.start
        pieces = [chunk.all(grouped)[0][2][rows] for grouped in self.filters.values()]
        found = pages.look_up(pieces, count)
        seconds = (self._clock() - began) / max(1, len(route))
        for stop in route:
            self._tell(stop, count, seconds)
        return found

    def _walk(self, block: Block, route: list[Stop]) -> None:
        """Let a block go the way of those before it, and on if it must."""
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

    def _needing(self, block: Block, grouped: GroupedFilter, stop: Stop) -> Ints | None:
        """The tuples with a query that has a predicate in a filter; all if those of a sample mostly have one."""
        if stop.by_most is None:
            stop.by_most = len(block) > 1 and block.mostly_have(grouped.needs.row())
        return None if stop.by_most else block.with_any(grouped.needs.row())

    def _visit(
        self, block: Block, grouped: GroupedFilter, stop: Stop, rows: Ints | None, to_come: Iterable[GroupedFilter]
    ) -> None:
        began, before = self._clock(), block.some(rows)
        block.apply(grouped, rows)
        if stop.rates is None:
            stop.learn(before, block.some(rows), grouped.needs.row(), [other.needs.row() for other in to_come])
        self._tell(stop, len(block) if rows is None else len(rows), self._clock() - began)

    def _tell(self, stop: Stop, count: int, seconds: float) -> None:
        work = stop.work(count, seconds)
        self.policy.told(work)
        self.counts.add(work)

    def _filter(self, attribute: Expression) -> GroupedFilter:
        if attribute not in self.filters:
            shown = map_columns(attribute, lambda c: column(self.schema, c.index))
            name = f"{self.stream}.{shown}"
            taken = {grouped.name for grouped in self.filters.values()}
            if name in taken:
                name += f" ({len(self.filters)})"
            self.filters[attribute] = GroupedFilter(name, attribute, self.schema, self._pool, self.space)
        return self.filters[attribute]
