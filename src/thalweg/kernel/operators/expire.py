"""Expire: replace known ends by negative tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Lane
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.ordering import net


class Expire(Operator, kind="expire/1"):
    """The negative tuple approach: +[s, e) becomes +[s, FOREVER) at once, and -[e, FOREVER) when time reaches e.

    The bag at every instant stays the same. A premature deletion -[u, e) becomes -[u, FOREVER), and nothing is emitted
    at e. Above a window, it makes the plan above run on negative tuples alone.

    Update pattern: strict (STR), as all ends are negative tuples. State: the tuples whose known ends are not due, in
    order of their ends. Papers: EXPIRE of GhanemEtAl2007; GolabOzsu2005 §2.3.1.
    """

    KEPT = ("_ends",)

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._ends = Timeline()

    @property
    def stored(self) -> int:
        """The tuples whose known ends are not due."""
        return len(self._ends)

    @property
    def next_wake(self) -> Instant:
        """The next known end."""
        return self._ends.first()

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Arrivals without their ends, and negative tuples for the ends up to `now`."""
        (batch,) = inputs
        dates = () if batch.dates is None else (batch.dates.ts, batch.dates.exp)
        finite = batch.end < FOREVER
        lanes: tuple[Lane, ...] = (batch.end, -batch.sign.astype(np.int64), *dates, *batch.columns)
        self._ends.add(*(lane[finite] for lane in lanes))
        arrivals = replace(batch, end=np.full(len(batch), FOREVER))
        due = self._ends.due(now)
        return arrivals if due is None else Batch.concat([arrivals, _ended(due, len(due) > 2 + len(self._schema))])


def _ended(due: tuple[Lane, ...], dated: bool) -> Batch:
    """Ends as negative tuples; the end of a negative tuple cancels that of the tuple that it deleted."""
    time, sign, *lanes = due
    if bool((sign > 0).any()):
        left, sign = net([time, *lanes], sign)
        time, lanes = time[left], [lane[left] for lane in lanes]
    dates = Dates(lanes[0], lanes[1]) if dated else None
    columns = tuple(lanes[2:] if dated else lanes)
    return Batch(columns, time, np.full(len(time), FOREVER), sign.astype(np.int8), dates)
