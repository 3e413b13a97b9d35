"""Windows that count: tuples wait until they are let in, and then live among the last n of their key."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.kernel.state.snapshot import immutable
from thalweg.kernel.windows.last import LastOfEach, LetIn
from thalweg.kernel.windows.steps import Steps
from thalweg.kernel.windows.waiting import Waiting, count_waiting


@immutable("count-window-update/1")
@dataclass(frozen=True)
class Counted:
    """What would wait after a step, and what the step let in."""

    waiting: Waiting
    let_in: LetIn


class CountingSteps(Steps[Counted]):
    """ROWS is PARTITION BY nothing (PatroumpasSellis2011 §3.3.2); the two differ in when they let tuples in."""

    KEPT = ("_last", "_waiting")

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._dated = dated
        self._last = LastOfEach(keys, count, schema, dated)
        self._waiting: Waiting = ()

    @abstractmethod
    def admit(self, arrived: Batch, now: Instant) -> tuple[Batch, Waiting]:
        """Whom to let in by `now`, as of when and until when at most; and who waits then."""

    def weigh(self, arrived: Batch, now: Instant) -> tuple[Batch, Counted]:
        """Let in whoever may enter."""
        entering, waiting = self.admit(arrived, now)
        output, let_in = self._last.weigh(entering, now)
        return output, Counted(waiting, let_in)

    def commit(self, update: Counted) -> None:
        """Keep what was weighed."""
        self._waiting = update.waiting
        self._last.commit(update.let_in)

    @property
    def stored(self) -> int:
        """The tuples that are in and those that wait."""
        return self._last.stored + count_waiting(self._waiting)
