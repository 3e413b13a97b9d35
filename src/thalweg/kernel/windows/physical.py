"""Physical windows run in steps: a step is evaluated first, and committed when its input is final."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.operator import Key, Operator
from thalweg.kernel.state.snapshot import Stateful

Update = TypeVar("Update")


class PhysicalWindow(Stateful, ABC, Generic[Update]):
    """A window that counts tuples or compares values: a function from state and arrivals to output and new state."""

    @abstractmethod
    def evaluate(self, arrived: Batch, now: Instant) -> tuple[Batch, Update]:
        """The changes of the output if these are the next tuples, in order; and the update of the state."""

    @abstractmethod
    def commit(self, update: Update) -> None:
        """Apply the update of the last call of `evaluate` to the state."""

    @property
    @abstractmethod
    def stored(self) -> int:
        """The number of tuples in the committed state."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """The partitioning key: empty (one process must see all tuples) unless the window is partitioned."""
        return ((),)

    def next_wake(self, update: Update | None = None) -> Instant:
        """The next instant at which a tuple enters without new input, in the committed state or after an update."""
        return FOREVER


AnyWindow = PhysicalWindow[Any]


class BaseStreamWindow(Operator, kind="physical-window/1"):
    """A physical window over a base stream. Tuples of one instant are in order of arrival, so every step is final."""

    KEPT = ("_steps",)

    def __init__(self, steps: AnyWindow) -> None:
        self._steps = steps

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Evaluate and commit one step."""
        output, update = self._steps.evaluate(in_order_of_time(inputs[0]), now)
        self._steps.commit(update)
        return output

    @property
    def keys(self) -> tuple[Key, ...]:
        """The window's partitioning key."""
        return self._steps.keys

    @property
    def stored(self) -> int:
        """The tuples in the window, and those that wait to enter."""
        return self._steps.stored

    @property
    def next_wake(self) -> Instant:
        """The next instant at which a waiting tuple enters."""
        return self._steps.next_wake()


def in_order_of_time(arrived: Batch) -> Batch:
    """Stream tuples sorted by ts; tuples of one instant stay in order of arrival."""
    ts = arrived.start
    return arrived if (ts[1:] >= ts[:-1]).all() else arrived.take(np.argsort(ts, kind="stable"))


def with_lifetimes(arrived: Batch, dated: bool, start: Ints | None = None, end: Ints | None = None) -> Batch:
    """Stream tuples with the lifetimes [start, end), or [ts, FOREVER) by default; exp is the end."""
    start = arrived.start if start is None else start
    end = np.full(len(arrived), FOREVER) if end is None else end
    return replace(arrived, start=start, end=end, dates=Dates(arrived.start, end) if dated else None)
