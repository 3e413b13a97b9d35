"""A stream in the eddy: its queries, its grouped filters, and the way of its tuples through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.algebra.expressions import Expression, column, map_columns
from thalweg.core.lanes import Ints, Lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.eddy.bits import Words, any_bit, count_bits
from thalweg.eddy.grouped_filter import ALL, GroupedFilter
from thalweg.eddy.members import Member, MemberSet, Space
from thalweg.eddy.predicates import disjuncts
from thalweg.eddy.routing import Policy, Work
from thalweg.eddy.statistics import Tally
from thalweg.state.snapshot import Stateful

_SAMPLE = 128  # tuples of a chunk whose pairs are counted
_MOSTLY = 0.75  # if so many rows need an operator, it is applied to all: that spares a copy


@dataclass(frozen=True)
class Ways:
    """How tuples find their way: who decides, whether operators that nobody needs are skipped, and the time."""

    policy: Policy
    skip: bool = True
    clock: Callable[[], float] = time.perf_counter


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

    def sift(self, columns: Sequence[Lane], count: int) -> Words:
        """The lineage of a chunk of tuples after all filters."""
        lineage = np.repeat(self.members.row()[None], count, axis=0)
        todo = {grouped.name: grouped for grouped in self.filters.values()}
        open_clauses = {k: np.zeros_like(lineage) for k, having in self._clauses.items() if len(having)}
        rows, untouched = np.arange(count), True
        self.policy.begin(count)
        self.tally.begin(count, len(todo))
        while todo and len(rows):
            if not self._skip:
                rows = self._waiting(lineage, rows, todo.values())
                if not len(rows):
                    break
            grouped = todo.pop(self.policy.choose(list(todo)))
            mine = self._needing(lineage, rows, grouped) if self._skip and not untouched else rows
            untouched = False
            if len(mine):
                self._visit(grouped, columns, mine, lineage, open_clauses)
            left = frozenset().union(*(g.layers for g in todo.values())) if open_clauses else frozenset()
            self._decide(lineage, open_clauses, [k for k in open_clauses if k not in left])
        self._decide(lineage, open_clauses, list(open_clauses))
        return lineage

    def _visit(
        self, grouped: GroupedFilter, columns: Sequence[Lane], rows: Ints, lineage: Words, clauses: dict[int, Words]
    ) -> None:
        began = self._clock()
        needs, sample = grouped.needs.row(), rows[:_SAMPLE]
        given = count_bits(lineage[sample] & needs)
        if len(rows) >= _MOSTLY * len(lineage):
            lane = grouped.values(columns, slice(None), len(lineage))
            grouped.apply(lane, lineage, clauses)
        else:
            part, parts = lineage[rows], {k: matrix[rows] for k, matrix in clauses.items()}
            grouped.apply(grouped.values(columns, rows, len(rows)), part, parts)
            lineage[rows] = part
            for k, matrix in clauses.items():
                matrix[rows] = parts[k]
        returned = count_bits(lineage[sample] & needs)
        scale = len(rows) / len(sample)
        work = Work(grouped.name, len(rows), int(given * scale), int(returned * scale), self._clock() - began)
        self.policy.told(work)
        self.tally.add(work)

    def _waiting(self, lineage: Words, rows: Ints, todo: Iterable[GroupedFilter]) -> Ints:
        """The rows in which a query is left that has not seen all its operators."""
        pending = np.bitwise_or.reduce([grouped.needs.row() for grouped in todo])
        return rows[any_bit(lineage[rows] & pending)]

    def _needing(self, lineage: Words, rows: Ints, grouped: GroupedFilter) -> Ints:
        """The rows in which a query is left that has a predicate in a filter; all if those of a sample mostly do."""
        needs = grouped.needs.row()
        if len(rows) > _SAMPLE and np.count_nonzero(any_bit(lineage[:_SAMPLE] & needs)) >= _MOSTLY * _SAMPLE:
            return rows
        return rows[any_bit(lineage & needs)]

    def _decide(self, lineage: Words, clauses: dict[int, Words], layers: Sequence[int]) -> None:
        """Clear the bits of queries whose clauses came out false: all their parts have been seen."""
        for layer in layers:
            lineage &= clauses.pop(layer) | ~self._clauses[layer].row()

    def _filter(self, attribute: Expression) -> GroupedFilter:
        if attribute not in self.filters:
            shown = map_columns(attribute, lambda c: column(self.schema, c.index))
            name = f"{self.stream}.{shown}"
            taken = {grouped.name for grouped in self.filters.values()}
            if name in taken:
                name += f" ({len(self.filters)})"
            self.filters[attribute] = GroupedFilter(name, attribute, self.schema, self._pool, self.space)
        return self.filters[attribute]
