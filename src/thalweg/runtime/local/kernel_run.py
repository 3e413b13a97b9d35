"""A query run by the kernel: what happened since the last question goes through the pipeline as a batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Lane, to_lane
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.planner import Strategy, build
from thalweg.planner.metrics import OperatorMetrics
from thalweg.runtime.local.outputs import OutputLog

_EVERYTHING = 1 << 60


class KernelRun:
    """Holds back what lies after the clock, feeds the rest, and keeps all output, so that the past can be asked for.

    `batch_size` cuts the input into batches of so many tuples, also within an instant; no answer depends on it.
    """

    def __init__(self, plan: Plan, start: Instant, strategy: Strategy, batch_size: int = _EVERYTHING) -> None:
        self._pipeline = build(plan, strategy)
        self._schemas = {n.source: n.schema for n in self._pipeline.nodes if n.operator is None}
        self._start, self._batch_size = start, batch_size
        self._arrivals: list[tuple[Instant, str, Row]] = []
        self._updates: list[tuple[Instant, str, int, Row]] = []
        self._log = OutputLog(plan.schema, self._pipeline.pool)
        self._log.add(self._pipeline.begin(start - 1))

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple waits until the query's clock has reached it."""
        if ts >= self._start:
            self._arrivals.append((ts, stream, row))

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """An update waits likewise; what a table held before the query began is new at its start."""
        self._updates.append((max(t, self._start), relation, sign, row))

    def answer(self, t: Instant, now: Instant) -> Bag:
        """Q(t), from the intervals of all output so far."""
        self._settle(now)
        return self._log.answer(t)

    def metrics(self) -> list[OperatorMetrics]:
        """What each operator has done."""
        return self._pipeline.metrics

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """What the output's intervals begin and end since the last call."""
        self._settle(now)
        return self._log.changes(now, first)

    def _settle(self, now: Instant) -> None:
        """Bring the pipeline's clock to `now`."""
        self._arrivals.sort(key=lambda a: a[0])  # stable: ties keep their order of arrival
        due = [a for a in self._arrivals if a[0] <= now]
        self._arrivals = self._arrivals[len(due) :]
        for i in range(0, len(due), self._batch_size):
            chunk = due[i : i + self._batch_size]
            last = i + self._batch_size >= len(due)
            self._step(chunk, now if last else chunk[-1][0])
        if not due:
            self._step([], now)

    def _step(self, arrivals: Sequence[tuple[Instant, str, Row]], now: Instant) -> None:
        feeds: dict[str, Batch] = {}
        by_stream: defaultdict[str, list[tuple[Instant, Row]]] = defaultdict(list)
        for ts, stream, row in arrivals:
            by_stream[stream].append((ts, row))
        for stream, rows in by_stream.items():
            times = np.array([t for t, _ in rows], dtype=np.int64)
            feeds[stream] = Batch.of_arrivals(self._lanes(stream, [r for _, r in rows]), times, self._pipeline.dated)
        for relation in {u[1] for u in self._updates if u[0] <= now}:
            feeds[relation] = self._table(relation, [u for u in self._updates if u[1] == relation and u[0] <= now])
        self._updates = [u for u in self._updates if u[0] > now]
        self._log.add(self._pipeline.process(feeds, now))

    def _table(self, relation: str, updates: Sequence[tuple[Instant, str, int, Row]]) -> Batch:
        start = np.array([u[0] for u in updates], dtype=np.int64)
        forever = np.full(len(start), FOREVER)
        sign = np.array([u[2] for u in updates], dtype=np.int8)
        dates = Dates(np.full(len(start), BEGINNING), forever) if self._pipeline.dated else None
        return Batch(self._lanes(relation, [u[3] for u in updates]), start, forever, sign, dates)

    def _lanes(self, source: str, rows: Sequence[Row]) -> tuple[Lane, ...]:
        pool = self._pipeline.pool
        columns = zip(*rows, strict=True) if rows else [[] for _ in self._schemas[source]]
        return tuple(
            to_lane(pa.array(list(values), field.type.arrow), field.type, pool)
            for values, field in zip(columns, self._schemas[source], strict=True)
        )

    def restart(self, plan: Plan, strategy: Strategy) -> None:
        """Go on in a pipeline built anew, from a snapshot of this one: as after a crash, with nothing lost."""
        fresh = build(plan, strategy)
        fresh.restore(self._pipeline.snapshot())
        self._pipeline = fresh
        self._log.pool = fresh.pool
