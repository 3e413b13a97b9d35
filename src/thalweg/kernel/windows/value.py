"""`[RANGE x ON a]`: the tuples whose values lie within x of the greatest value so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.algebra.windows import ValueRange
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import NULL, Ints, Lane
from thalweg.core.runs import join_runs
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import INT64_MAX, INT64_MIN, DataType
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.windows.physical import PhysicalWindow, with_lifetimes


@immutable("value-window-update/1")
@dataclass(frozen=True)
class ValueUpdate:
    """The update of a step: the greatest value, the tuples that enter, and tuples that return to the state."""

    peak: Lane
    entered: tuple[Lane, ...] | None
    put_back: tuple[Lane, ...] | None


class ValueWindow(PhysicalWindow[ValueUpdate], kind="value-window/1"):
    """A tuple of value v enters if v > m(ts) - x, and leaves when m - x >= v; m(t) is the greatest value up to t.

    Update pattern: WK by order of values. State: the tuples in the window, in a timeline by value, whose clock is
    m - x. Paper: PatroumpasSellis2011 §3.1.

        RANGE 10 ON a
        t        1         2          3         4
        arrive   5         12         3         16
        m - x    -5        2          2         6
        output   +5[1,F)   +12[2,F)   +3[3,F)   +16[4,F) -5[4,F) -3[4,F)
    """

    KEPT = ("_peak", "_window_tuples", "_taken_out")

    def __init__(self, window: ValueRange, schema: Schema, dated: bool) -> None:
        self._column = window.column
        self._dated = dated
        self._floors = Floors(window.width, window.type)
        self._peak = self._floors.nothing
        self._window_tuples = Timeline()
        self._taken_out: tuple[Lane, ...] | None = None  # tuples of the state that an uncommitted step would end
        self._empty = Batch.empty(schema, dated)

    def evaluate(self, arrived: Batch, now: Instant) -> tuple[Batch, ValueUpdate]:
        """The tuples that enter, and negative tuples for those that the new greatest value ends."""
        if not len(arrived):
            return self._empty, ValueUpdate(self._peak, None, self._taken_out)
        arrived = with_lifetimes(arrived, self._dated)
        values = self._floors.numbers(arrived.columns[self._column])
        peaks = np.maximum(np.maximum.accumulate(values), self._peak)
        floors, times = self._floors.of(peaks), arrived.start
        # A tuple ends when a floor first reaches its value. If that is at its own instant or before, as for NULLs, it
        # never enters; so it does not matter that m rises tuple by tuple here and not instant by instant.
        until = np.append(times, FOREVER)[np.searchsorted(floors, values)]
        staying = until == FOREVER
        ended, put_back = self._ended(floors, times)
        update = ValueUpdate(peaks[-1:], _lanes(arrived.take(staying), values[staying]), put_back)
        return Batch.concat([arrived.between(arrived.start, until), ended]), update

    def commit(self, update: ValueUpdate) -> None:
        """Apply an update."""
        self._peak = update.peak
        self._taken_out = None
        for rows in (update.entered, update.put_back):
            if rows is not None:
                self._window_tuples.add(*rows)

    @property
    def stored(self) -> int:
        """The number of tuples in the window."""
        return len(self._window_tuples) + (0 if self._taken_out is None else len(self._taken_out[0]))

    def _ended(self, floors: Lane, times: Ints) -> tuple[Batch, tuple[Lane, ...] | None]:
        """Negative tuples for tuples of earlier steps that end; and tuples that an abandoned step had taken out."""
        taken = [rows for rows in (self._taken_out, self._window_tuples.due(floors[-1])) if rows is not None]
        if not taken:
            return self._empty, None
        self._taken_out = join_runs(taken)
        values = self._taken_out[0]
        ended = values <= floors[-1]
        put_back = None if ended.all() else tuple(lane[~ended] for lane in self._taken_out)
        value, *columns = (lane[ended] for lane in self._taken_out)
        forever = np.full(len(value), FOREVER)
        dates = Dates(columns.pop(), forever) if self._dated else None
        start = times[np.searchsorted(floors, value)]
        return Batch(tuple(columns), start, forever, np.full(len(value), -1, dtype=np.int8), dates), put_back


class Floors:
    """m - x, without integer overflow and with the rounding of `ValueRange.contents`."""

    def __init__(self, width: int | float, type_: DataType) -> None:
        self._width = width
        self._double = type_ is DataType.DOUBLE
        self.nothing: Lane = np.full(1, -np.inf) if self._double else np.full(1, NULL)  # m before any value

    def numbers(self, lane: Lane) -> Lane:
        """The values, with NULLs as the least number, which is never a new maximum."""
        return np.where(np.isnan(lane), -np.inf, lane) if self._double else lane

    def of(self, peaks: Lane) -> Lane:
        """The value that tuples must exceed to be in the window, for each maximum."""
        if self._double or isinstance(self._width, float):
            with np.errstate(over="ignore", invalid="ignore"):
                exact = peaks.astype(np.float64) - float(self._width)
            exact = np.where(np.isnan(exact), np.inf, exact)  # infinity - infinity: no tuple is in the window
            return exact if self._double else _whole(exact)
        least = INT64_MIN + self._width  # from here on the difference is an int64
        if least > INT64_MAX:
            return np.full(len(peaks), NULL)
        difference = (peaks.view(np.uint64) - np.uint64(self._width)).view(np.int64)
        return np.where(peaks >= least, difference, NULL)


def _whole(floors: Lane) -> Ints:
    """The greatest integers that are not greater than these doubles, within int64."""
    whole = np.floor(floors)
    inside = (whole >= INT64_MIN) & (whole < 2.0**63)
    edges = np.where(whole < 0, INT64_MIN, INT64_MAX)
    return np.where(inside, np.where(inside, whole, 0).astype(np.int64), edges)


def _lanes(tuples: Batch, values: Lane) -> tuple[Lane, ...]:
    ts = () if tuples.dates is None else (tuples.dates.ts,)
    return (values, *tuples.columns, *ts)
