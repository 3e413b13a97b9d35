"""The contract of a window: `contents(arrivals, t)` is its meaning (PatroumpasSellis2011, definition 9).

Logical windows look at timestamps alone: a closed interval `scope(t)` defines them, and the lifetime `[start, end)` of
each tuple is known on arrival. Physical windows count tuples or compare values: they fix the order in which tuples
leave, but not the times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.core.errors import WindowError
from thalweg.core.rows import Arrival
from thalweg.core.time import FOREVER, LONGEST, Clock, Instant

Ticks = npt.NDArray[np.int64]


class Scope(NamedTuple):
    """A closed interval of instants; empty if `first > last`."""

    first: Instant
    last: Instant

    def __contains__(self, ts: object) -> bool:
        return isinstance(ts, int) and self.first <= ts <= self.last


@dataclass(frozen=True)
class BaseWindow(ABC):
    """A function from a stream's contents at t to a finite bag of its tuples."""

    @abstractmethod
    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        """The tuples the window holds at `t`, given the stream's tuples up to `t` in order of (ts, seq)."""

    @abstractmethod
    def expiry(self, ts: Instant) -> Instant:
        """When time alone ends a tuple of `ts`; FOREVER if it does not."""

    @abstractmethod
    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        """Every instant at which a tuple of `ts` may enter or leave because time passes."""

    @abstractmethod
    def cql(self, names: Sequence[str], clock: Clock) -> str:
        """The window as CQL writes it, brackets included; `names` are its stream's columns."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns the window looks at, besides the timestamp."""
        return ()


@dataclass(frozen=True)
class LogicalWindow(BaseWindow):
    """A window over timestamps: all tuples whose ts lies in `scope(t)`."""

    @abstractmethod
    def scope(self, t: Instant) -> Scope:
        """The interval of timestamps that the window shows at `t`."""

    @abstractmethod
    def lifetimes(self, ts: Ticks) -> tuple[Ticks, Ticks]:
        """For each ts the half-open `[start, end)` of instants at which the window shows it."""

    def lifetime(self, ts: Instant) -> tuple[Instant, Instant]:
        """The lifetime of a single tuple."""
        start, end = self.lifetimes(np.array([ts], dtype=np.int64))
        return int(start[0]), int(end[0])

    def contents(self, arrivals: Sequence[Arrival], t: Instant) -> list[Arrival]:
        """The tuples whose timestamp lies in the scope."""
        scope = self.scope(t)
        return [a for a in arrivals if a.ts in scope]

    def expiry(self, ts: Instant) -> Instant:
        """The end of the lifetime."""
        return self.lifetime(ts)[1]

    def boundaries(self, ts: Instant) -> tuple[Instant, ...]:
        """The lifetime's start and end."""
        start, end = self.lifetime(ts)
        return (start,) if end >= FOREVER else (start, end)


def require_positive(what: str, value: int) -> None:
    """A window's extent or slide must be at least one, and at most LONGEST."""
    if value > LONGEST:
        raise WindowError(f"{what} is too large: at most {LONGEST}, got {value}", hint="[RANGE UNBOUNDED] has no end")
    if value <= 0:
        raise WindowError(
            f"{what} must be greater than zero, got {value}",
            hint="leave the window out for an unbounded stream",
        )
