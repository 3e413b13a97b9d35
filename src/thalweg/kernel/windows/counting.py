"""Windows that count: tuples wait until they are let in, and then live among the last n of their key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.windows.last import Admitted, LastOfEach
from thalweg.kernel.windows.steps import Steps
from thalweg.kernel.windows.waiting import Waiting, count_waiting


@immutable("count-window-update/1")
@dataclass(frozen=True)
class CountUpdate:
    """What would wait after a step, and what the step let in."""

    waiting: Waiting
    admitted: Admitted


class CountingSteps(Steps[CountUpdate]):
    """ROWS is PARTITION BY nothing (PatroumpasSellis2011 §3.3.2); the two differ in when they let tuples in."""

    KEPT = ("_last_of_each", "_waiting")

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._dated = dated
        self._last_of_each = LastOfEach(keys, count, schema, dated)
        self._waiting: Waiting = ()

    @abstractmethod
    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """Whom to let in by `now`, as of when and until when at most; and who waits then."""

    def weigh(self, arrived: Batch, now: Instant) -> tuple[Batch, CountUpdate]:
        """Let in whoever may enter."""
        entering, waiting = self.admit(arrived, now)
        output, admitted = self._last_of_each.weigh(entering, now)
        return output, CountUpdate(waiting, admitted)

    def commit(self, update: CountUpdate) -> None:
        """Keep what was weighed."""
        self._waiting = update.waiting
        self._last_of_each.commit(update.admitted)

    @property
    def stored(self) -> int:
        """The tuples that are in and those that wait."""
        return self._last_of_each.stored + count_waiting(self._waiting)
