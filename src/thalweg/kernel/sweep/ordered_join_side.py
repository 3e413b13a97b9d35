"""One side of an ordered join: the changes that a batch makes, and the stored tuples by place."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Flags, Ints, Lane, lane_dtype
from thalweg.core.schema import Field, Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.state.buffers.places import PlacedTuples
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.timeline import Timeline
from thalweg.kernel.sweep.join_keys import NO_PARTNER
from thalweg.kernel.tuning import DEFAULT, Tuning

_END, _DATES = 1, slice(2, None)  # lanes behind the columns; lane 0 is the code of the key


def numbered(schema: Schema) -> Schema:
    """The schema with the number of arrival as its last column."""
    return Schema((*schema.fields, Field("number", DataType.BIGINT)))


@dataclass(frozen=True)
class SideChanges:
    """The changes of one side, with places instead of numbers: arrivals, and stored tuples that leave."""

    arrived: Keyed
    leaving: Keyed  # as negative tuples
    places: Ints  # of the tuples that leave, ascending


class OrderedJoinSide(Stateful, kind="ordered-side/1"):
    """The tuples of one side by place, from their arrival until they leave."""

    KEPT = ("places", "_ends")

    def __init__(self, schema: Schema, dated: bool, tuning: Tuning = DEFAULT) -> None:
        """The last column of `schema` is the number of arrival."""
        self._width = len(schema) - 1
        columns = [lane_dtype(t) for t in schema.types[:-1]]
        self.places = PlacedTuples([*columns, np.int64, np.int64, *([np.int64] * (2 * dated))], tuning)
        self._ends = Timeline()  # (end, number) of tuples with a known end

    def apply(self, codes: Ints, batch: Batch, now: Instant) -> SideChanges:
        """Give places to arrivals that outlive the batch, and note when stored tuples leave."""
        negative = batch.sign < 0
        leaving = batch.columns[-1][negative], batch.start[negative]
        kept = np.flatnonzero(~negative & (codes != NO_PARTNER))
        kept = kept[np.argsort(batch.columns[-1][kept], kind="stable")]
        codes, arrived, leaving = _closed(codes[kept], batch.take(kept), *leaving)
        return SideChanges(self._placed(codes, arrived, now), *self._departures(*leaving))

    def ended(self, now: Instant) -> Ints:
        """The places of tuples whose known ends have come."""
        due = self._ends.due(now)
        if due is None:
            return np.empty(0, dtype=np.int64)
        places, known = self.places.find(due[1])
        return np.sort(places[known])

    def columns(self, places: Ints) -> list[Lane]:
        """The columns of the tuples at some places, without their numbers."""
        return [self.places.lane(i)[places] for i in range(self._width)]

    def codes(self) -> Ints:
        """The codes of the keys of all tuples."""
        return self.places.lane(self._width)[self.places.occupied()]

    def end(self, places: Ints) -> Ints:
        """The ends of the tuples at some places."""
        return self.places.lane(self._width + _END)[places]

    def dates(self, places: Ints) -> Dates:
        """The dates of the tuples at some places; the side must be dated."""
        ts, exp = self.places.read(places)[self._width :][_DATES]
        return Dates(ts, exp)

    def _placed(self, codes: Ints, arrived: Batch, now: Instant) -> Keyed:
        """Arrivals with places as their last column; a tuple that ends by now gets no place of its own."""
        stays = arrived.end > now
        places = np.zeros(len(arrived), dtype=np.int64)
        *columns, numbers = arrived.columns
        dates = () if arrived.dates is None else (arrived.dates.ts, arrived.dates.exp)
        lanes = [lane[stays] for lane in (*columns, codes, arrived.end, *dates)]
        places[stays] = self.places.settle(numbers[stays], lanes)
        timed = stays & (arrived.end < FOREVER)
        self._ends.add(arrived.end[timed], numbers[timed])
        return Keyed.with_tiebreak(codes, places, arrived.with_columns((*columns, places)))

    def _departures(self, numbers: Ints, times: Ints) -> tuple[Keyed, Ints]:
        places, known = self.places.find(numbers)  # a tuple without partners was never stored
        order = np.argsort(places[known])
        places, times = places[known][order], times[known][order]
        self.places.leaves_at[places] = times
        lanes = self.places.read(places)
        codes, end, *dates = lanes[self._width :]
        columns, signs = (*lanes[: self._width], places), np.full(len(places), -1, dtype=np.int8)
        left = Batch(columns, times, end, signs, Dates(*dates) if dates else None)
        return Keyed.with_tiebreak(codes, places, left), places


def _closed(codes: Ints, arrived: Batch, numbers: Ints, times: Ints) -> tuple[Ints, Batch, tuple[Ints, Ints]]:
    """End arrivals, given by ascending number, that leave in the same batch; return the other departures too."""
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
