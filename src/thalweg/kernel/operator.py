"""The interface of an operator: a function from input batches and the clock to an output batch, with state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from thalweg.algebra.expressions import Expression, column
from thalweg.core.batch import Batch
from thalweg.core.errors import TooManyResultsError
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, LONGEST, Instant
from thalweg.kernel.state.snapshot import Stateful

Key = tuple[Expression, ...]


def columns_key(schema: Schema, columns: Iterable[int]) -> Key:
    """A key that consists of the given columns."""
    return tuple(column(schema, i) for i in columns)


class Operator(Stateful, ABC):
    """A physical operator. `process` is called once per batch, even if no tuple arrived: time may have passed.

    KEPT names the attributes that last from batch to batch, so that snapshots can save and restore them.
    """

    @abstractmethod
    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """Return the changes of the output, given the changes of each input up to and including `now`."""

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same in pieces, at least one; together they are what `process` returns. The inputs come in pieces too.

        Pieces exist one at a time: a reader that is done with one must not keep it. An operator that does not work in
        pieces gets whole batches and gives one.
        """
        yield self.process([Batch.concat(list(given)) for given in inputs], now)

    @property
    def makes_pieces(self) -> bool:
        """Whether the output can be so much larger than the inputs that it comes in pieces, as a join's can."""
        return False

    @property
    def takes_pieces(self) -> bool:
        """Whether `pieces` works on one piece of the inputs at a time."""
        return False

    @property
    def shrinks_pieces(self) -> bool:
        """Whether less may remain of a piece than came in. Otherwise taking pieces saves no memory by itself."""
        return False

    @property
    def most_results(self) -> int:
        """How many tuples of the output may exist at a time."""
        return LONGEST

    def too_many_results(self) -> TooManyResultsError:
        """The error if the output of this batch is needed whole and has more tuples than `most_results`."""
        return TooManyResultsError(f"a batch has more than {self.most_results} results")

    @property
    def stored(self) -> int:
        """The number of tuples in the operator's state."""
        return 0

    @property
    def keys(self) -> tuple[Key, ...] | None:
        """For each input the expressions of its partitioning key: one process must see all tuples with equal values.

        An empty key means that one process must see all tuples; None means that tuples can be spread in any way.
        """
        return None

    @property
    def is_partial(self) -> bool:
        """Whether the operator computes a partial aggregate, which an operator above combines with others.

        Its input can then be partitioned in any way, and its output has no partitioning that another can rely on.
        """
        return False

    @property
    def allows_broadcast(self) -> bool:
        """Whether the second input can be broadcast, so that the first can be partitioned in any way.

        That is so if every result depends on one tuple of the first input and on the second input alone.
        """
        return False

    @property
    def pads_with_nulls(self) -> bool:
        """Whether the output may have NULLs in place of the second input's columns, as a left join's has.

        Then the second input's key, read from the output, is no partitioning key of the output.
        """
        return False

    @property
    def next_wake(self) -> Instant:
        """The next instant at which the output changes without new input; FOREVER if there is none."""
        return FOREVER

    @property
    def comparisons(self) -> int:
        """The number of candidate tuples that were compared so far; 0 if the operator does not count them."""
        return 0

    @property
    def join_orders(self) -> str:
        """The order in which the inputs of a multi-way join are joined; empty for other operators."""
        return ""

    @property
    def premature(self) -> int | None:
        """The number of results that were deleted before their end; None if the operator does not count them."""
        return None
