"""What all user-defined aggregates have in common: which values come and go at which steps, and what is shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from thalweg.algebra.expressions import Aggregate
from thalweg.algebra.expressions.user_aggregate import Values
from thalweg.core.batch import Batch
from thalweg.core.errors import UserFunctionError
from thalweg.core.lanes import Ints, Lane, is_null, to_lane
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.operators.distinct import Distinct
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.state.table import ByCode
from thalweg.kernel.sweep.ends import Ends
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts, run_sums
from thalweg.kernel.sweep.steps import Instants, Steps

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Net:
    """Values, as raws, that groups gain (positive weights) or lose at steps; by step, then value, each pair once."""

    step: Ints
    raw: Ints
    weight: Ints

    def slices(self) -> list[tuple[int, slice]]:
        """Each step at which something changes, and its rows."""
        first = np.flatnonzero(run_starts(self.step))
        stop = np.append(first, len(self.step))[1:]
        return [(step, slice(a, b)) for step, a, b in zip(self.step[first], first, stop, strict=True)]


class UserDefined(Accumulator, Stateful):
    """One user-defined aggregate, NULLs left out; computed anew only at steps that change its group's bag of values.

    DISTINCT is a duplicate elimination that stands before it. A user's function that fails leaves the operator between
    two batches, so from then on there is no answer but the same error.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("_elimination", "_ends", "_last_results")

    def __init__(self, aggregate: Aggregate, column: int, type_: DataType, pool: StringPool, known_ends: bool) -> None:
        assert aggregate.user is not None
        self._user = aggregate.user
        self._column, self._type, self._pool = column, type_, pool
        self._order = Order(type_, pool)
        self._elimination: Operator | None = None
        if aggregate.distinct:
            pairs = Schema.of(group=DataType.BIGINT, argument=type_)
            self._elimination = DeltaStar(pairs) if known_ends else Distinct(pairs)
        self._ends = Ends()
        nothing = self._lane([self._user.over_nothing]).view(np.int64)
        self._last_results = ByCode(np.int64, nothing[0])  # what each group's value is now, as bits
        self._weight = self._raw = _NONE
        self._failure: UserFunctionError | None = None

    @property
    def stored(self) -> int:
        """The ends that wait, and what the elimination keeps."""
        return len(self._ends) + (self._elimination.stored if self._elimination is not None else 0)

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """When a group gains or loses a value."""
        if self._failure is not None:
            raise self._failure
        lane = batch.columns[self._column]
        pairs = batch.with_columns((code, lane))
        missing = is_null(lane)
        if missing.any():
            pairs = pairs.take(~missing)
        if self._elimination is not None:
            pairs = self._elimination.process([pairs], now)
        code, lane = pairs.columns
        lanes = (code, self._order.raw(lane))
        weight = pairs.sign.astype(np.int64)
        time, self._weight, code, self._raw = self._ends.events(pairs.start, pairs.end, weight, lanes, now)
        return code, time

    def values(self, steps: Steps, places: Ints) -> list[Lane]:
        """At each step what its group's values come to; where they do not change, what they came to before."""
        net = self._net(places)
        self._weight = self._raw = _NONE
        slices = net.slices()
        try:
            results = self._lane(list(self._results(steps, net, slices)))
        except UserFunctionError as error:
            self._failure = error
            raise
        self._last_results.fit(int(steps.code[-1]) + 1)
        changed = np.array([step for step, _ in slices], dtype=np.int64)
        lane = self._filled(steps, changed, results)
        self._last_results.values[steps.groups] = lane[steps.stop - 1].view(np.int64)
        return [lane]

    @abstractmethod
    def _results(self, steps: Steps, net: Net, slices: list[tuple[int, slice]]) -> Iterator[Value]:
        """The result at each step that changes something, in their order; the state moves along."""

    def _net(self, places: Ints) -> Net:
        """What the gathered events come to: a value that comes and goes at one step is no change."""
        order = order_by(places, self._order.scale(self._raw).keys(self._raw))
        step, raw = places[order], self._raw[order]
        starts = run_starts(step, raw)
        weight = run_sums(self._weight[order], starts)
        kept = np.flatnonzero(starts)[weight != 0]
        return Net(step[kept], raw[kept], weight[weight != 0])

    def _filled(self, steps: Steps, changed: Ints, results: Lane) -> Lane:
        """The results at the steps that changed; elsewhere the last one before, in this batch or earlier."""
        latest = np.full(len(steps), -1)
        latest[changed] = np.arange(len(changed))
        latest = np.maximum.accumulate(latest)
        lane = steps.spread(self._last_results.values[steps.groups].view(results.dtype))
        own = latest >= 0
        own[own] = steps.group[changed[latest[own]]] == steps.group[own]  # not that of a group before
        lane[own] = results[latest[own]]
        return lane

    def _shown(self, raw: Ints) -> Values:
        """Raws as the user's function sees the values."""
        lane = self._order.lane(raw)
        match self._type:
            case DataType.BOOLEAN:
                return np.equal(lane, 1)
            case DataType.STRING:
                return np.asarray(self._pool.decode(lane).to_numpy(zero_copy_only=False), dtype=np.object_)
            case DataType.TIMESTAMP:
                return lane.view("datetime64[us]")
            case DataType.INTERVAL:
                return lane.view("timedelta64[us]")
        return lane

    def _lane(self, results: list[Value]) -> Lane:
        returns = self._user.returns
        return to_lane(pa.array(results, returns.arrow), returns, self._pool)
