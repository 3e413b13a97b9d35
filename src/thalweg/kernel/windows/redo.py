"""Physical windows over derived streams: the last instant may still change, so its step is kept open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.windows.order import net_tuples, order_of_stream
from thalweg.kernel.windows.steps import AnySteps


class Redoing(Operator, kind="redone-window/1"):
    """Tuples in order of (ts, row); the tuples of an instant are final when a later instant is told.

    The step of the open instant is weighed but not committed. If the instant is told again, with tuples more or taken
    back, the step is weighed anew from the same state and the output is corrected by the difference.

        ROWS 1
        clock    5           5 again
        told     +b          -b +a +c
        output   +b[5,F)     -b[5,F) +c[5,F)

    State: that of the window, and the tuples and the output of the open instant.
    """

    KEPT = ("_steps", "_clock", "_open_tuples", "_emitted", "_open_update")

    def __init__(self, steps: AnySteps, schema: Schema, pool: StringPool, dated: bool) -> None:
        self._steps = steps
        self._schema = schema
        self._pool = pool
        self._clock: Instant = BEGINNING - 1  # the open instant; before all time there is none
        self._open_tuples = Batch.empty(schema, dated)
        self._emitted, self._open_update = steps.weigh(self._open_tuples, self._clock)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Corrections of the instant that was open, then all that is new."""
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
        """As the window says."""
        return self._steps.keys

    @property
    def stored(self) -> int:
        """The tuples of the window before the open instant, and those of the open instant."""
        return self._steps.stored + len(self._open_tuples)

    @property
    def next_wake(self) -> Instant:
        """When the next tuple that waits is let in."""
        return self._steps.next_wake(self._open_update)

    def _advance(self, arrived: Batch, now: Instant) -> list[Batch]:
        cut = int(np.searchsorted(arrived.start, now))
        final, update = self._steps.weigh(arrived.take(slice(cut)), now - 1)
        self._steps.commit(update)
        self._clock, self._open_tuples = now, arrived.take(slice(cut, None))
        self._emitted, self._open_update = self._steps.weigh(self._open_tuples, now)
        return [final, self._emitted]

    def _correct(self, more: Batch) -> Batch:
        self._open_tuples = self._in_order(Batch.concat([self._open_tuples, more]))
        before = self._emitted
        self._emitted, self._open_update = self._steps.weigh(self._open_tuples, self._clock)
        return net_tuples(Batch.concat([before.negated(), self._emitted]))

    def _in_order(self, tuples: Batch) -> Batch:
        standing = tuples if (tuples.sign > 0).all() else net_tuples(tuples)
        return standing.take(order_of_stream(standing, self._schema, self._pool))
