"""What every operator is: a function of its inputs' batches and the clock, with state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from thalweg.algebra.expressions import Expression, column
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful

Key = tuple[Expression, ...]


def columns_key(schema: Schema, columns: Iterable[int]) -> Key:
    """Some columns as a key."""
    return tuple(column(schema, i) for i in columns)


class Operator(Stateful, ABC):
    """Called once per batch, whether or not anything arrived: time may have passed.

    What it remembers from batch to batch is named in KEPT, so that it can be taken down and restored.
    """

    @abstractmethod
    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """What the output gains, given what each input gained up to and at `now`."""

    @property
    def stored(self) -> int:
        """How many tuples the operator's state holds."""
        return 0

    @property
    def keys(self) -> tuple[Key, ...] | None:
        """For each input the expressions whose values tell what the operator must see together.

        Tuples with other values could be in another process. No expressions: it must see all; None: row by row will do.
        """
        return None

    @property
    def is_part(self) -> bool:
        """Whether any part of its input gives a result of its own, which an operator above puts together with others.

        So its input may lie anyhow; where its output lies says nothing about that.
        """
        return False

    @property
    def takes_copies(self) -> bool:
        """Whether its first input may lie anyhow if each process knows all of the second: it looks at pairs only."""
        return False

    @property
    def fills_up(self) -> bool:
        """Whether the output may have NULLs for the second input's columns, so that they do not tell its key."""
        return False

    @property
    def next_wake(self) -> Instant:
        """When time alone changes the output next, whatever the inputs; known to what keeps tuples back."""
        return FOREVER

    @property
    def comparisons(self) -> int:
        """How many tuples were looked at as partners, where the operator counts them."""
        return 0

    @property
    def walks(self) -> str:
        """In which order inputs are walked, where there is a choice."""
        return ""

    @property
    def premature(self) -> int | None:
        """How many results were deleted before their time, where the operator itself counts them."""
        return None
