"""Windows that count tuples: a tuple waits until it enters, and then lives while it is among the last n of its key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.windows.last_of_each import Admitted, LastOfEach
from thalweg.kernel.windows.physical import PhysicalWindow
from thalweg.kernel.windows.waiting import Waiting, count_waiting


@immutable("count-window-update/1")
@dataclass(frozen=True)
class CountUpdate:
    """The update of a step: the tuples that wait after it, and the tuples that it admitted."""

    waiting: Waiting
    admitted: Admitted


class CountWindow(PhysicalWindow[CountUpdate]):
    """ROWS is PARTITION BY no columns (PatroumpasSellis2011 §3.3.2); subclasses differ in when tuples enter."""

    KEPT = ("_last_of_each", "_waiting")

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._dated = dated
        self._last_of_each = LastOfEach(keys, count, schema, dated)
        self._waiting: Waiting = ()

    @abstractmethod
    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """The tuples that enter by `now`, with their greatest possible lifetimes; and the tuples that wait."""

    def evaluate(self, arrived: Batch, now: Instant) -> tuple[Batch, CountUpdate]:
        """Admit tuples, and end the tuples that they displace."""
        entering, waiting = self.admit(arrived, now)
        output, admitted = self._last_of_each.evaluate(entering, now)
        return output, CountUpdate(waiting, admitted)

    def commit(self, update: CountUpdate) -> None:
        """Queue the admitted tuples."""
        self._waiting = update.waiting
        self._last_of_each.commit(update.admitted)

    @property
    def stored(self) -> int:
        """The tuples in the window, and those that wait to enter."""
        return self._last_of_each.stored + count_waiting(self._waiting)
