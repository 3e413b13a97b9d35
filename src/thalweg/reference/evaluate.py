"""The right answer at t, as docs/semantics.md defines it: window contents at t, then relational algebra on bags."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.core.rows import Arrival, Bag, Dated, row_key, sorted_rows
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.reference import operators
from thalweg.reference.history import History
from thalweg.reference.operators import Tuples
from thalweg.reference.scalars import evaluate


class Reference:
    """The answers of a plan over a history, at any instant and in any order, also while the history grows.

    `start` is the instant at which the query was registered. The query sees stream tuples with ts >= start, and the
    whole contents of tables. Before the start both are empty, so at the start all rows of a table are new.
    """

    def __init__(self, plan: Plan, history: History, start: Instant = BEGINNING) -> None:
        self.plan = plan
        self.history = history
        self.start = start
        self._known: dict[tuple[int, Instant], Tuples] = {}  # by (id of a node, t); the plan keeps its nodes alive
        self._known_instants: dict[tuple[int, Instant], list[Instant]] = {}
        self._seen = 0

    def answer(self, t: Instant) -> Bag:
        """Q(t)."""
        return _rows(self.tuples(t))

    def tuples(self, t: Instant) -> list[Dated]:
        """Q(t) with dates."""
        self._forget()
        return list(self._at(self.plan, t))

    def instants(self, until: Instant) -> list[Instant]:
        """The instants up to `until` at which the answer or its dates may change, sorted."""
        self._forget()
        return list(self._instants(self.plan, until))

    def _forget(self) -> None:
        """Drop results for instants at which the history has changed since they were computed."""
        safe = self.history.unchanged_before(self._seen)
        if safe < FOREVER:
            self._seen = self.history.size
            self._known = {key: found for key, found in self._known.items() if key[1] < safe}
            self._known_instants = {key: found for key, found in self._known_instants.items() if key[1] < safe}

    def _at(self, node: Plan, t: Instant) -> Tuples:
        key = (id(node), t)
        if key not in self._known:
            self._known[key] = self._evaluate(node, t)
        return self._known[key]

    def _evaluate(self, node: Plan, t: Instant) -> Tuples:
        match node:
            case StreamScan():
                return [Dated(a.row, a.ts) for a in self._arrivals(node, t)]
            case RelationScan(source):
                return self.history.relation(source.name, t) if t >= self.start else []
            case Windowed(child, window):
                contents = window.contents(self._arrivals(child, t), t)
                return [Dated(a.row, a.ts, window.expiry(a.ts)) for a in contents]
            case Select(child, predicate):
                return operators.select(self._at(child, t), predicate)
            case Project(child, items):
                return operators.project(self._at(child, t), items)
            case Union(left, right):
                return self._at(left, t) + self._at(right, t)
            case Join(left, right, condition, kind):
                widths = (len(left.schema), len(right.schema))
                return operators.join(self._at(left, t), self._at(right, t), condition, kind, widths)
            case MultiJoin(inputs, condition):
                return operators.multi_join([self._at(child, t) for child in inputs], condition)
            case NrrJoin(left, right, condition, kind):
                nrr, width = (lambda ts: self._at(right, ts)), len(right.schema)
                return operators.nrr_join(self._at(left, t), nrr, condition, kind, width)
            case SemiJoin(left, right, condition, anti):
                return operators.semi_join(self._at(left, t), self._at(right, t), condition, anti)
            case Distinct(child):
                return operators.distinct(self._at(child, t))
            case GroupBy(child, keys, aggregates):
                return operators.group_by(self._at(child, t), keys, aggregates)
            case Negation(left, right, on):
                return operators.negation(self._at(left, t), self._at(right, t), on)
            case Intersect(left, right):
                return operators.intersect(self._at(left, t), self._at(right, t))
            case TopK(child, keys, limit):
                return operators.top_k(self._at(child, t), keys, limit)
            case IStream(child) | DStream(child) | RStream(child):
                return self._emitted(node, child, t)
            case _:
                assert_never(node)

    def _arrivals(self, stream: Plan, t: Instant) -> list[Arrival]:
        """The tuples of a stream, ordered by (ts, order of arrival), also after selections and projections.

        Tuples of any other derived stream are ordered by (ts, row).
        """
        match stream:
            case StreamScan(source):
                return [a for a in self.history.stream(source.name, t) if a.ts >= self.start]
            case Select(child, predicate) if _in_order_of_arrival(child):
                return [a for a in self._arrivals(child, t) if evaluate(predicate, a.row) is True]
            case Project(child, items) if _in_order_of_arrival(child):
                row = operators.project_row
                return [a._replace(row=row(a.row, items)) for a in self._arrivals(child, t)]
        # Any other plan is a derived stream, whose tuples have no order of arrival of their own.
        derived = sorted(self._at(stream, t), key=lambda d: (d.ts, row_key(d.row)))
        return [Arrival(d.ts, seq, d.row) for seq, d in enumerate(derived)]

    def _emitted(self, node: IStream | DStream | RStream, child: Plan, t: Instant) -> Tuples:
        """All tuples that a relation-to-stream operator has emitted from the start up to t."""
        emitted = []
        before = self._at(child, self.start - 1)
        for instant in self._instants(child, t):
            now = self._at(child, instant)
            emitted += [Dated(row, instant) for row in sorted_rows(_emission(node, before, now))]
            before = now
        return emitted

    def _instants(self, node: Plan, until: Instant) -> list[Instant]:
        key = (id(node), until)
        if key not in self._known_instants:
            found = {instant for instant in self._candidates(node, until) if instant <= until}
            self._known_instants[key] = sorted(found)
        return self._known_instants[key]

    def _candidates(self, node: Plan, until: Instant) -> set[Instant]:
        match node:
            case StreamScan():
                return {a.ts for a in self._arrivals(node, until)}
            case RelationScan(source):
                return {max(u.t, self.start) for u in self.history.updates(source.name, until)}
            case Windowed(child, window):
                return {edge for ts in self._instants(child, until) for edge in window.boundaries(ts)}
            case NrrJoin(left):  # an NRR's updates change nothing by themselves
                return set(self._instants(left, until))
            case (
                Select()
                | Project()
                | Distinct()
                | GroupBy()
                | TopK()
                | Union()
                | Intersect()
                | Negation()
                | Join()
                | SemiJoin()
                | MultiJoin()
                | IStream()
                | DStream()
                | RStream()
            ):  # these change only when an input does
                return {instant for child in node.children for instant in self._instants(child, until)}
            case _:
                assert_never(node)


def _in_order_of_arrival(stream: Plan) -> bool:
    match stream:
        case Select(child) | Project(child):
            return _in_order_of_arrival(child)
    return isinstance(stream, StreamScan)


def _emission(node: IStream | DStream | RStream, before: Tuples, now: Tuples) -> Bag:
    match node:
        case IStream():
            return _rows(now) - _rows(before)
        case DStream():
            return _rows(before) - _rows(now)
        case RStream():  # a row with another ts is another row
            changed = Counter((d.row, d.ts) for d in now) != Counter((d.row, d.ts) for d in before)
            return _rows(now) if changed else Counter()
        case _:
            assert_never(node)


def _rows(tuples: Tuples) -> Bag:
    return Counter(d.row for d in tuples)
