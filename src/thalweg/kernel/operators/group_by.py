"""Grouping and aggregation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from thalweg.algebra.expressions import Aggregate
from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import NULL, Lane
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.accumulator import Accumulator
from thalweg.kernel.aggregates.deduplicated import DistinctAggregate, GroupPresence
from thalweg.kernel.aggregates.extrema import ColumnOf, Extremum, ts_of
from thalweg.kernel.aggregates.group_sweep import CodedPiece, GroupSweep
from thalweg.kernel.aggregates.incremental import Incremental
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.aggregates.progressive import Progressive
from thalweg.kernel.aggregates.whole_bag import WholeBag
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.state.table import KeyTable

Specification = tuple[Aggregate, int | None]  # an aggregate, and the column of its argument (None for COUNT(*))


class GroupBy(Operator, kind="group-by/1"):
    """gamma(S)(t) = { (k, f(the tuples of S(t) with key k)) : k is in S(t) }; without keys always exactly one row.

    Keys and arguments are columns of the input; the output has the keys, then the aggregates. A row is dated by the
    latest ts of its group and never expires by itself. A row that changes is emitted as -old, +new.

    Without keys the row over no tuples (COUNT 0, the others NULL) exists from the first call of `process` on: from its
    clock, or from the start of its first tuple if that is earlier. So the first call must be at the query's first
    instant. `is_partial`: a partial aggregate, without keys and over some of the tuples; it has no row over no tuples.

    Update pattern: weak (rule 4); a group's next value replaces the last one.
    State: a row and exact sums for each group; the arguments of all tuples whose known ends are not due. MIN and MAX
    keep the values that may still become the result: with `known_ends` (no negative tuples in the input) a staircase,
    otherwise all values; DISTINCT keeps at most two tuples for each value with `known_ends` (delta*), otherwise a
    count. User-defined aggregates keep all values, or the user's state.
    Papers: GolabOzsu2005 §2.1 and rule 4; PatroumpasSellis2011 §4.2.
    """

    KEPT = ("_table", "_sweep")

    def __init__(
        self,
        key_columns: Sequence[int],
        aggregates: Sequence[Specification],
        schema: Schema,
        pool: StringPool,
        dated: bool = False,
        known_ends: bool = False,
        is_partial: bool = False,
    ) -> None:
        self._is_partial = is_partial
        self._keys = tuple(key_columns)
        self._key = columns_key(schema, key_columns)
        self._dated = dated
        self._table = KeyTable([schema[column].type for column in key_columns])
        accumulators, self._places = _accumulators(aggregates, schema, pool, known_ends)
        types = [aggregates[i][0].type for i in self._places]
        if dated:
            accumulators.append(Extremum(Order(DataType.BIGINT), ts_of, known_ends))
            types.append(DataType.BIGINT)
        self._sweep = GroupSweep(accumulators, types, always=not self._keys and not is_partial)

    @property
    def keys(self) -> tuple[Key, ...] | None:
        """The grouping key; None for a partial aggregate."""
        return None if self._is_partial else (self._key,)

    @property
    def is_partial(self) -> bool:
        """Whether it computes a partial aggregate."""
        return self._is_partial

    @property
    def stored(self) -> int:
        """Groups in the answer, pending ends, and the values that MIN, MAX and DISTINCT keep."""
        return self._sweep.stored

    @property
    def takes_pieces(self) -> bool:
        """Progressive aggregates are added up piece by piece; others need whole batches."""
        return self._sweep.takes_pieces

    @property
    def shrinks_pieces(self) -> bool:
        """Only sums by group and instant remain."""
        return True

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The rows of groups that change."""
        return self._change(inputs, now)  # one batch is one piece

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same, from an input in pieces."""
        yield self._change(inputs[0], now)

    def _change(self, pieces: Iterable[Batch], now: Instant) -> Batch:
        changes = self._sweep.change_by_pieces(map(self._coded, pieces), now)
        keys = self._table.decode(changes.code)
        self._table.release(self._sweep.vanished)
        values = [changes.lanes[place] for place in np.argsort(self._places)]
        dates = _dates(changes.lanes[-1]) if self._dated else None
        return Batch((*keys, *values), changes.start, changes.end, changes.sign, dates)

    def _coded(self, piece: Batch) -> CodedPiece:
        return self._table.encode([piece.columns[column] for column in self._keys], len(piece)), piece


def _accumulators(
    aggregates: Sequence[Specification], schema: Schema, pool: StringPool, known_ends: bool
) -> tuple[list[Accumulator], list[int]]:
    """Accumulators for the aggregates, and the positions of the aggregates in the order of the accumulators' results.

    The first result of the first accumulator says whether a group exists.
    """
    progressive = [i for i, (aggregate, _) in enumerate(aggregates) if aggregate.is_progressive]
    places = list(progressive)
    accumulators: list[Accumulator] = []
    if progressive or not known_ends:
        accumulators.append(Progressive([aggregates[i] for i in progressive]))
    else:  # a group exists as long as its last tuple does, which is all that is kept
        accumulators.append(GroupPresence())
    duplicates: dict[int, list[int]] = {}
    for i, (aggregate, column) in enumerate(aggregates):
        if aggregate.is_progressive or column is None:
            continue
        if aggregate.user is not None:
            form = Incremental if aggregate.user.is_incremental else WholeBag
            accumulators.append(form(aggregate, column, schema[column].type, pool, known_ends))
            places.append(i)
        elif aggregate.function in ("min", "max"):  # duplicates do not change the result
            order = Order(schema[column].type, pool, least=aggregate.function == "min")
            accumulators.append(Extremum(order, ColumnOf(column), known_ends))
            places.append(i)
        else:
            duplicates.setdefault(column, []).append(i)
    for column, chosen in duplicates.items():
        functions = [aggregates[i][0] for i in chosen]
        accumulators.append(DistinctAggregate(functions, column, schema[column].type, known_ends))
        places += chosen
    return accumulators, places


def _dates(ts: Lane) -> Dates:
    return Dates(np.where(ts == NULL, BEGINNING, ts), np.full(len(ts), FOREVER))
