"""A query evaluated by the reference: slow, and right by definition."""

from __future__ import annotations

from collections import Counter

from thalweg.algebra.plan import Plan
from thalweg.core.rows import Bag, Change, Row, bag_difference
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics, OutputDelay
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History


class ReferenceRun:
    """Keeps the history the query has seen, and evaluates at every instant at which something may change."""

    def __init__(self, plan: Plan, start: Instant) -> None:
        self._history = History()
        self._reference = Reference(plan, self._history, start)
        self._emitted_until: Instant | None = None
        self._emitted: Bag = Counter()
        self.delay = OutputDelay()  # none: every answer is computed when it is asked for
        self.waiting = 0  # nothing waits: the history holds all

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple of a stream."""
        self._history.arrive(stream, ts, row)

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """A table gains or loses a row."""
        (self._history.insert if sign > 0 else self._history.delete)(relation, t, row)

    def answer(self, t: Instant, now: Instant) -> Bag:
        """Q(t)."""
        return self._reference.answer(t)

    def metrics(self) -> list[OperatorMetrics]:
        """The reference has no operators."""
        return []

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """The differences between the answers of successive instants."""
        changes: list[Change] = []
        for t in self._instants(now, first):
            bag = self._reference.answer(t)
            changes += bag_difference(self._emitted, bag, t)
            self._emitted, self._emitted_until = bag, t
        return changes

    def _instants(self, now: Instant, first: Instant) -> list[Instant]:
        """The instants to report on, starting with the last one reported, which may have grown since."""
        after = first if self._emitted_until is None else self._emitted_until
        return sorted({t for t in self._reference.instants(now) if t > after} | {after})
