"""Physical windows go in steps that can be taken anew: a step is weighed first and committed when it is final."""

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


class Steps(Stateful, ABC, Generic[Update]):
    """A window that counts tuples or compares values, as a function from state and arrivals to output and new state."""

    @abstractmethod
    def weigh(self, arrived: Batch, now: Instant) -> tuple[Batch, Update]:
        """What the output gains if these are the next tuples, in order, and what the state would become."""

    @abstractmethod
    def commit(self, update: Update) -> None:
        """Let the state become what the last `weigh` said."""

    @property
    @abstractmethod
    def stored(self) -> int:
        """How many tuples the committed state holds."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """What the window must see together: all of the stream, unless it is partitioned."""
        return ((),)

    def next_wake(self, update: Update | None = None) -> Instant:
        """When time alone lets somebody in, in the committed state or after a step that was weighed."""
        return FOREVER


AnySteps = Steps[Any]


class Stepping(Operator, kind="physical-window/1"):
    """A physical window over a base stream: order within an instant is order of arrival, so every step is final."""

    KEPT = ("_steps",)

    def __init__(self, steps: AnySteps) -> None:
        self._steps = steps

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """One step."""
        output, update = self._steps.weigh(in_order_of_time(inputs[0]), now)
        self._steps.commit(update)
        return output

    @property
    def keys(self) -> tuple[Key, ...]:
        """As the window says."""
        return self._steps.keys

    @property
    def stored(self) -> int:
        """The tuples of the window, and those that wait to be let in."""
        return self._steps.stored

    @property
    def next_wake(self) -> Instant:
        """When the next tuple that waits is let in."""
        return self._steps.next_wake()


def in_order_of_time(arrived: Batch) -> Batch:
    """Stream tuples by ts; of one instant, in the order in which they came."""
    ts = arrived.start
    return arrived if (ts[1:] >= ts[:-1]).all() else arrived.take(np.argsort(ts, kind="stable"))


def lives(arrived: Batch, dated: bool, start: Ints | None = None, end: Ints | None = None) -> Batch:
    """Stream tuples with the lifetime that time alone gives them: [ts, FOREVER) unless told otherwise."""
    start = arrived.start if start is None else start
    end = np.full(len(arrived), FOREVER) if end is None else end
    return replace(arrived, start=start, end=end, dates=Dates(arrived.start, end) if dated else None)
