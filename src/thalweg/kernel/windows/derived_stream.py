"""Physical windows over derived streams: the tuples of the last instant may still change, so its step stays open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.sweep.ordering import net, order_by, sort_lane, stable_order
from thalweg.kernel.sweep.segments import run_ends, run_starts
from thalweg.kernel.windows.physical import AnyWindow


class DerivedStreamWindow(Operator, kind="redone-window/1"):
    """A physical window over tuples in order of (ts, row). The tuples of an instant are final when time moves on.

    The step of the open instant is evaluated but not committed. If a later batch adds or deletes tuples of that
    instant, the step is evaluated again from the same state, and the output is corrected by the difference.

        ROWS 1
        clock    5           5 again
        input    +b          -b +a +c
        output   +b[5,F)     -b[5,F) +c[5,F)

    State: that of the window, and the tuples and the output of the open instant.
    """

    KEPT = ("_steps", "_clock", "_open_tuples", "_emitted", "_open_update")

    def __init__(self, steps: AnyWindow, schema: Schema, pool: StringPool, dated: bool) -> None:
        self._steps = steps
        self._schema = schema
        self._pool = pool
        self._clock: Instant = BEGINNING - 1  # the open instant; none at first
        self._open_tuples = Batch.empty(schema, dated)
        self._emitted, self._open_update = steps.evaluate(self._open_tuples, self._clock)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Corrections of the open instant, then the output of new instants."""
        arrived = inputs[0]
        again = arrived.start == self._clock
        output = []
        if again.any():
            output.append(self._correct(arrived.take(again)))
            arrived = arrived.take(~again)
        if now > self._clock:
            self._steps.commit(self._open_update)
            output += self._advance(self._in_order(arrived), now)
        return Batch.concat(output) if output else self._open_tuples.take(slice(0, 0))

    @property
    def keys(self) -> tuple[Key, ...]:
        """The window's partitioning key."""
        return self._steps.keys

    @property
    def stored(self) -> int:
        """The tuples in the window before the open instant, and those of the open instant."""
        return self._steps.stored + len(self._open_tuples)

    @property
    def next_wake(self) -> Instant:
        """The next instant at which a waiting tuple enters."""
        return self._steps.next_wake(self._open_update)

    def _advance(self, arrived: Batch, now: Instant) -> list[Batch]:
        cut = int(np.searchsorted(arrived.start, now))
        final, update = self._steps.evaluate(arrived.take(slice(cut)), now - 1)
        self._steps.commit(update)
        self._clock, self._open_tuples = now, arrived.take(slice(cut, None))
        self._emitted, self._open_update = self._steps.evaluate(self._open_tuples, now)
        return [final, self._emitted]

    def _correct(self, more: Batch) -> Batch:
        self._open_tuples = self._in_order(Batch.concat([self._open_tuples, more]))
        before = self._emitted
        self._emitted, self._open_update = self._steps.evaluate(self._open_tuples, self._clock)
        return net_tuples(Batch.concat([before.negated(), self._emitted]))

    def _in_order(self, tuples: Batch) -> Batch:
        net = tuples if (tuples.sign > 0).all() else net_tuples(tuples)
        return net.take(order_of_stream(net, self._schema, self._pool))


def order_of_stream(tuples: Batch, schema: Schema, pool: StringPool) -> Ints:
    """The positions that sort tuples by (ts, row), NULLs last: by definition the arrival order of a derived stream."""
    order = stable_order(tuples.start)
    starts = run_starts(tuples.start[order])
    for column, field in zip(tuples.columns, schema, strict=True):
        tied = np.flatnonzero(~(starts & run_ends(starts)))
        if not len(tied):
            break
        rows = order[tied]
        lane = sort_lane(column[rows], field.type, pool)
        inner = order_by(np.cumsum(starts, dtype=np.int64)[tied], lane)
        order[tied] = rows[inner]
        starts[tied] |= run_starts(lane[inner])
    return order


def net_tuples(tuples: Batch) -> Batch:
    """Sum up equal tuples; tuples of opposite signs cancel."""
    dates = () if tuples.dates is None else (tuples.dates.ts, tuples.dates.exp)
    rows, signs = net([*tuples.columns, tuples.start, tuples.end, *dates], tuples.sign.astype(np.int64))
    return replace(tuples.take(rows), sign=signs.astype(np.int8))
