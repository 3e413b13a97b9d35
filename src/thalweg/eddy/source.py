"""A stream in the eddy: its queries, its grouped filters, and the way of its tuples through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from thalweg.algebra.expressions import Expression, column, map_columns
from thalweg.core.lanes import Ints, Lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.eddy.bits import Words, any_bit, count_bits
from thalweg.eddy.block import Block, Chunk
from thalweg.eddy.grouped_filter import ALL, GroupedFilter
from thalweg.eddy.members import Member, MemberSet, Space
from thalweg.eddy.predicates import disjuncts
from thalweg.eddy.routing import Policy, Work
from thalweg.eddy.statistics import Tally
from thalweg.state.snapshot import Stateful

_CELLS = 1 << 16  # words of lineage of a block: it should stay in the cache


@dataclass(frozen=True)
class Ways:
    """How tuples find their way: who decides, whether operators that nobody needs are skipped, and the time."""

    policy: Policy
    skip: bool = True
    clock: Callable[[], float] = time.perf_counter


@dataclass
class _Stop:
    """An operator on the way of a chunk, and what its first tuples have shown of it: who visits it, and pairs."""

    operator: str
    by_most: bool | None = None  # None if it is not known
    rates: tuple[float, float, float] | None = None


class Source(Stateful):
    """Lineage begins with the bits of all queries over the stream; each grouped filter clears some (seed 003, 3.2.2).

    A tuple leaves when all queries whose bits are left have seen all their operators.
    """

    KEPT = ("policy", "tally")

    def __init__(self, stream: str, schema: Schema, pool: StringPool, ways: Ways) -> None:
        self.stream, self.schema = stream, schema
        self.space = Space()
        self.members = MemberSet(self.space)
        self.policy, self.tally = ways.policy, Tally()
        self._skip, self._clock = ways.skip, ways.clock
        self._pool = pool
        self.filters: dict[Expression, GroupedFilter] = {}
        self._clauses: dict[int, MemberSet] = {}  # by layer those that have such a clause
        self._of: dict[Member, list[GroupedFilter]] = {}

    def add(self, member: Member, clauses: Sequence[Expression]) -> None:
        """A use of a query, and the clauses over the stream's columns that its tuples must fulfil."""
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
        self.members.discard(member)
        for having in self._clauses.values():
            having.discard(member)
        for grouped in self._of.pop(member, ()):
            grouped.drop(member)
            if not len(grouped.needs):
                self.filters.pop(grouped.attribute, None)

    def sift(self, columns: Sequence[Lane], count: int) -> Iterator[Words]:
        """The lineage of a chunk of tuples after all filters, block by block: the first finds the way for all."""
        self.policy.begin(count)
        self.tally.begin(count, len(self.filters))
        having = {layer: members.row() for layer, members in self._clauses.items() if len(members)}
        size = max(1, _CELLS // max(1, self.space.width))
        route: list[_Stop] = []
        chunk = Chunk(columns, count)
        for begin in range(0, count, size):
            block = Block(chunk, slice(begin, min(count, begin + size)), self.members.row(), having)
            self._walk(block, route)
            yield block.lineage

    def _walk(self, block: Block, route: list[_Stop]) -> None:
        """Let a block go the way of those before it, and on if it must."""
        todo = {grouped.name: grouped for grouped in self.filters.values()}
        rows: Ints | None = None  # all
        for place in range(len(todo)):
            if not self._skip:
                rows = block.with_any(np.bitwise_or.reduce([grouped.needs.row() for grouped in todo.values()]))
                if not len(rows):
                    break
            if place == len(route):
                route.append(_Stop(self.policy.choose(list(todo))))
            stop = route[place]
            grouped = todo.pop(stop.operator)
            if self._skip and place:
                rows = self._needing(block, grouped, stop)
            if rows is None or len(rows):
                self._visit(block, grouped, stop, rows, todo.values())
            block.decide(todo.values())
        block.decide(())

    def _needing(self, block: Block, grouped: GroupedFilter, stop: _Stop) -> Ints | None:
        """The tuples with a query that has a predicate in a filter; all if those of a sample mostly have one."""
        if stop.by_most is None:
            stop.by_most = len(block) > 1 and block.mostly_have(grouped.needs.row())
        return None if stop.by_most else block.with_any(grouped.needs.row())

    def _visit(
        self, block: Block, grouped: GroupedFilter, stop: _Stop, rows: Ints | None, to_come: Iterable[GroupedFilter]
    ) -> None:
        began, before = self._clock(), block.some(rows)
        block.apply(grouped, rows)
        if stop.rates is None:
            needs = grouped.needs.row()
            pending = reduce(np.bitwise_or, (other.needs.row() for other in to_come), needs)
            stop.rates = _rates(before & needs, block.some(rows), needs, pending)
        count = len(block) if rows is None else len(rows)
        given, returned, gone = (round(rate * count) for rate in stop.rates)
        work = Work(grouped.name, count, given, returned, self._clock() - began, gone)
        self.policy.told(work)
        self.tally.add(work)

    def _filter(self, attribute: Expression) -> GroupedFilter:
        if attribute not in self.filters:
            shown = map_columns(attribute, lambda c: column(self.schema, c.index))
            name = f"{self.stream}.{shown}"
            taken = {grouped.name for grouped in self.filters.values()}
            if name in taken:
                name += f" ({len(self.filters)})"
            self.filters[attribute] = GroupedFilter(name, attribute, self.schema, self._pool, self.space)
        return self.filters[attribute]


def _rates(given: Words, after: Words, needs: Words, pending: Words) -> tuple[float, float, float]:
    """Pairs per tuple of a sample that a filter was given, that came back, and that were of tuples which did not."""
    gone = given[~any_bit(after & pending)]
    some = max(1, len(given))
    return count_bits(given) / some, count_bits(after & needs) / some, count_bits(gone) / some
