"""The common part of user-defined aggregates: which values enter and leave at which steps, and the results."""

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
from thalweg.kernel.sweep.events import GroupEvents
from thalweg.kernel.sweep.ordering import order_by
from thalweg.kernel.sweep.segments import run_starts, run_sums
from thalweg.kernel.sweep.steps import GroupSteps, Instants

_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class NetChanges:
    """The net changes of groups' values: by step, then value, the value's raw and its weight (negative: it leaves)."""

    step: Ints
    raw: Ints
    weight: Ints

    def slices(self) -> list[tuple[int, slice]]:
        """Each step with a change, and the slice of its rows."""
        first = np.flatnonzero(run_starts(self.step))
        stop = np.append(first, len(self.step))[1:]
        return [(step, slice(a, b)) for step, a, b in zip(self.step[first], first, stop, strict=True)]


class UserAggregateBase(Accumulator, Stateful):
    """One user-defined aggregate without NULLs, computed only at steps that change its group's bag of values.

    With DISTINCT, duplicate elimination comes first. If the user's function raises an error, the operator's state is
    that of an unfinished batch, so every later call raises the same error.
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
        self._ends = GroupEvents()
        nothing = self._lane([self._user.over_nothing]).view(np.int64)
        self._last_results = ByCode(np.int64, nothing[0])  # by group: the bits of its current result
        self._weight = self._raw = _NONE
        self._failure: UserFunctionError | None = None

    @property
    def stored(self) -> int:
        """Pending ends, and the tuples of the duplicate elimination."""
        return len(self._ends) + (self._elimination.stored if self._elimination is not None else 0)

    def gather(self, code: Ints, batch: Batch, now: Instant) -> Instants:
        """The instants at which a group gains or loses a value."""
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
        time, self._weight, code, self._raw = self._ends.of(pairs.start, pairs.end, weight, lanes, now)
        return code, time

    def values(self, steps: GroupSteps, places: Ints) -> list[Lane]:
        """The results from each step on; the previous result if the group's values do not change."""
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
    def _results(self, steps: GroupSteps, net: NetChanges, slices: list[tuple[int, slice]]) -> Iterator[Value]:
        """The results at the steps that change values, in order; the state is updated."""

    def _net(self, places: Ints) -> NetChanges:
        """The net changes of the gathered events: a value that enters and leaves at one step is no change."""
        order = order_by(places, self._order.scale(self._raw).keys(self._raw))
        step, raw = places[order], self._raw[order]
        starts = run_starts(step, raw)
        weight = run_sums(self._weight[order], starts)
        kept = np.flatnonzero(starts)[weight != 0]
        return NetChanges(step[kept], raw[kept], weight[weight != 0])

    def _filled(self, steps: GroupSteps, changed: Ints, results: Lane) -> Lane:
        """The results at the changed steps; at other steps the last result before, of this batch or an earlier one."""
        latest = np.full(len(steps), -1)
        latest[changed] = np.arange(len(changed))
        latest = np.maximum.accumulate(latest)
        lane = steps.spread(self._last_results.values[steps.groups].view(results.dtype))
        own = latest >= 0
        own[own] = steps.group[changed[latest[own]]] == steps.group[own]  # not the result of another group
        lane[own] = results[latest[own]]
        return lane

    def _user_values(self, raw: Ints) -> Values:
        """The values of raws, in the types that the user's function takes."""
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
