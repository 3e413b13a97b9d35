"""What lies between two operators: a first-in first-out queue of items."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful, Tree, immutable


@immutable("queue-item/1")
@dataclass(frozen=True)
class Item:
    """Some tuples, or none: then it is a time-message. Whoever takes it learns that time has come to `clock`.

    `flagged` is the PGFlag of GhanemEtAl2007 §6: the item carries a time-message that it overtook, so the time must
    go on upwards even if the tuples do not.
    """

    batch: Batch | None
    clock: Instant
    flagged: bool = False

    @property
    def is_message(self) -> bool:
        """Whether it says the time only."""
        return self.batch is None


class Queue(Stateful, kind="queue/1"):
    """Items in the order they were put in. With `piggyback` it holds at most one time-message, which is the last."""

    KEPT = ("_items", "longest")

    def __init__(self, piggyback: bool = False) -> None:
        self._items: deque[Item] = deque()
        self._piggyback = piggyback
        self.longest = 0  # the most items it has ever held

    def __len__(self) -> int:
        return len(self._items)

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot."""
        super().restore(tree)
        self._items = deque(self._items)

    def put(self, item: Item) -> None:
        """One more item; under piggybacking it takes the place of a message that waits, and carries it."""
        if self._piggyback and self._items and self._items[-1].is_message:
            self._items.pop()
            item = replace(item, flagged=True)
        self._items.append(item)
        self.longest = max(self.longest, len(self._items))

    @property
    def clock(self) -> Instant:
        """That of the first item; FOREVER if there is none."""
        return self._items[0].clock if self._items else FOREVER

    def take(self) -> Item:
        """The first item."""
        return self._items.popleft()

    def take_at(self, clock: Instant) -> list[Item]:
        """All items with this clock, which must be the first ones."""
        taken = []
        while self._items and self._items[0].clock == clock:
            taken.append(self._items.popleft())
        return taken
