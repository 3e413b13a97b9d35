"""What a state buffer is: the tuples of a join's side by the dense code of their key, as immutable runs.

Whoever probes looks at the ends of what is found. So a buffer may forget late, and how late (`lazy`, the expiration
interval of GolabOzsu2005 §2.3) changes its size and its cost, never a result.

Any buffer takes any tuples, for a pattern is a promise about cost: a tuple that breaks it is found, deleted and in the
end forgotten like all others, only not as cheaply. A negative tuple that finds no equal positive one stays, until it
ends, and counts against what it meets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from thalweg.core.lanes import Flags, Ints
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.keyed import Keyed
from thalweg.kernel.state.run import Run
from thalweg.kernel.state.snapshot import Stateful


class Buffer(Stateful, ABC):
    """Signed tuples from when they are kept until they end or are deleted."""

    def __init__(self, lazy: int = 0) -> None:
        """Expire at most every `lazy` ticks; with 0 whenever asked to."""
        self._lazy = lazy
        self._expired_at: Instant = BEGINNING

    @property
    @abstractmethod
    def runs(self) -> Sequence[Run]:
        """All that is stored."""

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    @property
    def nbytes(self) -> int:
        """The memory that the tuples take."""
        return sum(run.nbytes for run in self.runs)

    @abstractmethod
    def keep(self, arrivals: Keyed, now: Instant) -> None:
        """Store tuples that have begun by `now`; negative ones among them have been looked for and not found."""

    @abstractmethod
    def delete(self, arrivals: Keyed) -> Flags:
        """Take out what the negative ones among the arrivals delete, and say which of them found theirs."""

    def probe(self, codes: Ints) -> Iterator[tuple[Run, Ints, Ints]]:
        """Run by run, for each code the first place of its tuples and their number; ascending codes are found fastest.

        All have begun. Some may have ended.
        """
        for run in self.runs if len(codes) else ():
            yield (run, *run.find(codes))

    def expire(self, now: Instant) -> None:
        """Forget what has ended, if it is time to."""
        if now - self._expired_at >= self._lazy:
            self._expired_at = now
            self._forget(now)

    @abstractmethod
    def _forget(self, now: Instant) -> None:
        """Forget what has ended, as far as the layout makes that worth while."""
