"""COUNT, SUM, AVG, VARIANCE and STDDEV: progressive aggregates, from which a leaving tuple is subtracted exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.algebra.expressions import Aggregate
from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import Instant
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.moments import POWERS, MomentChanges, RunningMoments
from thalweg.kernel.aggregates.reduced import ABOVE, BELOW, COUNT, ROWS, SQUARES, SUM, ReducedChanges, ReducedEvents
from thalweg.kernel.state.upgrades import Fields, upgrade
from thalweg.kernel.sweep.events import GroupEvents
from thalweg.kernel.sweep.segments import long_runs
from thalweg.kernel.sweep.steps import GroupSteps, Instants, RunningCount


class Progressive(Accumulator, kind="progressive/2"):
    """The number of tuples of each group, and progressive aggregates.

    Of a batch in several pieces only the last is kept as it is; the others are added up by group and instant, and the
    last as well if few of its tuples have a group and an end of their own.
    State: sums; the arguments of pending ends, or their sums.
    """

    KEPT = ("_moments", "_row_counts", "_ends", "_reduced")

    def __init__(self, aggregates: Sequence[tuple[Aggregate, int | None]]) -> None:
        self._aggregates = aggregates
        powers: dict[int, int] = {}
        for aggregate, column in aggregates:
            if column is not None:
                powers[column] = max(powers.get(column, 0), POWERS[aggregate.function])
        self._columns = tuple(powers)
        self._moments = [RunningMoments(power) for power in powers.values()]
        self._row_counts = RunningCount()
        self._ends = GroupEvents()
        self._reduced = ReducedEvents(tuple(powers.values()))
        self._changes: ReducedChanges | None = None
        self._weight: Ints = np.empty(0, dtype=np.int64)
        self._arguments: dict[int, Lane] = {}

    @property
    def stored(self) -> int:
        """The number of pending ends, or of their sums."""
        return len(self._ends) + len(self._reduced)

    def is_idle(self, codes: Ints) -> Flags:
        """A deleted tuple may return at a known instant; then its group is not idle."""
        return self._ends.is_idle(codes) & self._reduced.is_idle(codes)

    @property
    def takes_pieces(self) -> bool:
        """The order in which tuples come does not matter."""
        return True

    def absorb(self, code: Ints, piece: Batch) -> None:
        """Add up the events of a piece."""
        arguments = [piece.columns[column] for column in self._columns]
        self._reduced.add(code, piece.start, piece.end, piece.sign.astype(np.int64), arguments)

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The starts, and the ends up to `now`."""
        if self._reduced.pays(code, batch.end, now):
            self.absorb(code, batch)
            code, batch = code[:0], batch.take(slice(0, 0))
        lanes = (code, *(batch.columns[column] for column in self._columns))
        start, end, weight = batch.start, batch.end, batch.sign.astype(np.int64)
        first = None if self._columns else long_runs(code, start, end)
        if first is not None:  # tuples of one slide have equal lifetimes: count them together
            lanes, start, end, weight = (code[first],), start[first], end[first], np.add.reduceat(weight, first)
        time, self._weight, code, *arguments = self._ends.of(start, end, weight, lanes, now)
        self._arguments = dict(zip(self._columns, arguments, strict=True))
        self._changes = self._reduced.due(now)
        if self._changes is None:
            return code, time
        return np.concatenate([code, self._changes.code]), np.concatenate([time, self._changes.time])

    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """The number of tuples, then the aggregates, from each step on."""
        places, more = places[: len(self._weight)], places[len(self._weight) :]
        if self._changes is None:
            rows = self._row_counts.along(steps, places, self._weight)
        else:
            of_rows = self._changes.of(more, ROWS)
            both = np.concatenate([places, of_rows.places]), np.concatenate([self._weight, of_rows.amount])
            rows = self._row_counts.along(steps, *both)
        moments = {
            column: running.along(steps, places, self._weight, self._arguments[column], self._moment_changes(i, more))
            for i, (column, running) in enumerate(zip(self._columns, self._moments, strict=True))
        }
        results = [
            rows if column is None else moments[column].result(aggregate.function, _is_double(self._arguments[column]))
            for aggregate, column in self._aggregates
        ]
        return [rows, *results]

    def _moment_changes(self, argument: int, places: Ints) -> MomentChanges | None:
        changes = self._changes
        if changes is None:
            return None
        return MomentChanges(*(changes.of(places, q, argument) for q in (COUNT, SUM, SQUARES, ABOVE, BELOW)))


@upgrade("progressive/1", "progressive/2")
def _without_reduced(old: Fields) -> Fields:
    """Nothing was added up before."""
    return old | {"_reduced": ReducedEvents(()).snapshot()}


def _is_double(lane: Lane) -> bool:
    return lane.dtype == np.float64
