"""One side of an ordered join: what a batch tells of it, and its tuples by place."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Flags, Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.buffers.places import Places
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.join_keys import NO_PARTNER

_CODE, _END, _DATES = 0, 1, slice(2, None)  # behind the columns


@dataclass(frozen=True)
class OrderedTold:
    """What a batch tells of a side, with places for numbers: who arrived, and who of the stored tuples leaves."""

    arrived: Keyed
    leaving: Keyed  # negative tuples
    places: Ints  # of those who leave, ascending


class OrderedSide(Stateful, kind="ordered-side/1"):
    """The tuples of a side from arrival until they leave, by place."""

    KEPT = ("places", "_ends")

    def __init__(self, numbered: Schema, dated: bool) -> None:
        self._width = len(numbered) - 1
        columns = [lane_dtype(t) for t in numbered.types[:-1]]
        self.places = Places([*columns, np.int64, np.int64, *([np.int64] * (2 * dated))])
        self._ends = Timeline()  # of tuples that end by themselves: (end, number)

    def tell(self, codes: Ints, batch: Batch, now: Instant) -> OrderedTold:
        """Give arrivals that stay a place, and note when stored tuples leave."""
        gone = batch.sign < 0
        leaving = batch.columns[-1][gone], batch.start[gone]
        kept = np.flatnonzero(~gone & (codes != NO_PARTNER))
        kept = kept[np.argsort(batch.columns[-1][kept], kind="stable")]
        codes, arrived, leaving = _closed(codes[kept], batch.take(kept), *leaving)
        return OrderedTold(self._settled(codes, arrived, now), *self._left(*leaving))

    def ended(self, now: Instant) -> Ints:
        """The places of tuples whose time is over."""
        due = self._ends.due(now)
        if due is None:
            return np.empty(0, dtype=np.int64)
        places, known = self.places.find(due[1])
        return np.sort(places[known])

    def columns(self, places: Ints) -> list[Lane]:
        """The rows at some places, without their numbers."""
        return [self.places.lane(i)[places] for i in range(self._width)]

    def end(self, places: Ints) -> Ints:
        """When the tuples at some places end."""
        return self.places.lane(self._width + _END)[places]

    def dates(self, places: Ints) -> Dates:
        """The dates of the tuples at some places; only if there are any."""
        ts, exp = self.places.read(places)[self._width :][_DATES]
        return Dates(ts, exp)

    def _settled(self, codes: Ints, arrived: Batch, now: Instant) -> Keyed:
        """Arrivals with places as their last column; those that have left by now need none."""
        stays = arrived.end > now
        places = np.zeros(len(arrived), dtype=np.int64)
        *columns, numbers = arrived.columns
        dates = () if arrived.dates is None else (arrived.dates.ts, arrived.dates.exp)
        lanes = [lane[stays] for lane in (*columns, codes, arrived.end, *dates)]
        places[stays] = self.places.settle(numbers[stays], lanes)
        timed = stays & (arrived.end < FOREVER)
        self._ends.add(arrived.end[timed], numbers[timed])
        return Keyed.told_apart(codes, places, arrived.with_columns((*columns, places)))

    def _left(self, numbers: Ints, times: Ints) -> tuple[Keyed, Ints]:
        places, known = self.places.find(numbers)  # a tuple without partners was never stored
        order = np.argsort(places[known])
        places, times = places[known][order], times[known][order]
        self.places.leaves_at[places] = times
        lanes = self.places.read(places)
        codes, end, *dates = lanes[self._width :]
        columns, signs = (*lanes[: self._width], places), np.full(len(places), -1, dtype=np.int8)
        left = Batch(columns, times, end, signs, Dates(*dates) if dates else None)
        return Keyed.told_apart(codes, places, left), places


def _closed(codes: Ints, arrived: Batch, numbers: Ints, times: Ints) -> tuple[Ints, Batch, tuple[Ints, Ints]]:
    """Arrivals by ascending number, ended at once where they leave in the same batch; and who else leaves."""
    own = arrived.columns[-1]
    if not len(own) or not len(numbers):
        return codes, arrived, (numbers, times)
    at = np.minimum(np.searchsorted(own, numbers), len(own) - 1)
    here: Flags = own[at] == numbers
    if not here.any():
        return codes, arrived, (numbers, times)
    end = arrived.end.copy()
    end[at[here]] = times[here]
    alive = arrived.start < end
    return codes[alive], replace(arrived, end=end).take(alive), (numbers[~here], times[~here])
