"""The interface of a state buffer: the tuples of one side of a join by the dense code of their key, as immutable runs.

A probe may return ended tuples, and the operator checks their ends. So a buffer may drop ended tuples late, and how
late (`lazy`, the expiration interval of GolabOzsu2005 §2.3) changes its size and its cost, never a result.

Every buffer takes any tuples, because an update pattern is a promise about cost: a tuple that breaks it is found,
deleted and in the end dropped like all others, only at a higher cost. A negative tuple without an equal positive one
stays until it ends, and makes negative results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.state.snapshot import Stateful
from thalweg.kernel.tuning import DEFAULT, Tuning


class Buffer(Stateful, ABC):
    """Signed tuples, from `keep` until they end or are deleted."""

    def __init__(self, lazy: int = 0, tuning: Tuning = DEFAULT) -> None:
        """Drop ended tuples at most every `lazy` ticks; with 0 at every call of `expire`."""
        self._lazy = lazy
        self._tuning = tuning
        self._expired_at: Instant = BEGINNING

    @property
    @abstractmethod
    def runs(self) -> Sequence[TupleRun]:
        """All stored tuples."""

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(run.nbytes for run in self.runs)

    @abstractmethod
    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Store tuples that have started by `now`; `delete` has already been called for the negative ones."""

    @abstractmethod
    def delete(self, arrivals: Keyed) -> Flags:
        """Delete the equal tuples of the negative arrivals, and return which arrivals deleted one."""

    def probe(self, codes: Ints) -> Iterator[tuple[TupleRun, Ints, Ints]]:
        """Run by run, for each code the position of its first tuple, and the number of its tuples.

        All of them have started, and some may have ended. Ascending codes are looked up fastest.
        """
        for run in self.runs if len(codes) else ():
            yield (run, *run.find(codes))

    def expire(self, now: Instant) -> None:
        """Drop ended tuples, unless that was done less than `lazy` ticks ago."""
        if now - self._expired_at >= self._lazy:
            self._expired_at = now
            self._drop_ended(now)

    @abstractmethod
    def _drop_ended(self, now: Instant) -> None:
        """Drop ended tuples, as far as the layout makes that cheap."""
