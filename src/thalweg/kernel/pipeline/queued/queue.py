"""The FIFO queue between two operators."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful, Tree, immutable


@immutable("queue-item/1")
@dataclass(frozen=True)
class QueueItem:
    """A batch of tuples, or a time-message (no batch). The operator that takes the item sets its clock to `clock`.

    `flagged` is the PGFlag of GhanemEtAl2007 §6: the item replaced a time-message in its queue, so the operator must
    pass on the time even if it emits no tuples.
    """

    batch: Batch | None
    clock: Instant
    flagged: bool = False

    @property
    def is_message(self) -> bool:
        """Whether the item is a time-message."""
        return self.batch is None


class Queue(Stateful, kind="queue/1"):
    """Items, first in, first out. With `piggyback` it holds at most one time-message, which is the last item."""

    KEPT = ("_items", "longest")

    def __init__(self, piggyback: bool = False) -> None:
        self._items: deque[QueueItem] = deque()
        self._piggyback = piggyback
        self.longest = 0  # the most items it has ever held

    def __len__(self) -> int:
        return len(self._items)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._items = deque(self._items)

    def put(self, item: QueueItem) -> None:
        """Append an item; with `piggyback` it replaces a time-message at the end of the queue, and is flagged."""
        if self._piggyback and self._items and self._items[-1].is_message:
            self._items.pop()
            item = replace(item, flagged=True)
        self._items.append(item)
        self.longest = max(self.longest, len(self._items))

    @property
    def clock(self) -> Instant:
        """The clock of the first item; FOREVER if the queue is empty."""
        return self._items[0].clock if self._items else FOREVER

    def take(self) -> QueueItem:
        """Remove and return the first item."""
        return self._items.popleft()

    def take_at(self, clock: Instant) -> list[QueueItem]:
        """Remove and return all items with this clock, which must be at the front."""
        taken = []
        while self._items and self._items[0].clock == clock:
            taken.append(self._items.popleft())
        return taken
