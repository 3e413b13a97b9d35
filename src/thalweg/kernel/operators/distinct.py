"""Duplicate elimination for any input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thalweg.core.batch import Batch, Dates
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.core.types import DataType
from thalweg.kernel.aggregates.extrema import Extremum, exp_of, ts_of
from thalweg.kernel.aggregates.group_sweep import CodedPiece, GroupSweep
from thalweg.kernel.aggregates.order import Order
from thalweg.kernel.aggregates.progressive import Progressive
from thalweg.kernel.operator import Key, Operator, columns_key
from thalweg.kernel.state.table import KeyTable

_TIME = DataType.BIGINT


class Distinct(Operator, kind="distinct/1"):
    """delta(S)(t) = { v once : v is in S(t) }, dated by the latest ts and the last exp of the duplicates.

    Update pattern: the input's, but at least weak; a negative tuple ends a value that outlives its batch.
    State: a count for each value, the known ends that are not due, and with dates the dates of all duplicates.
    Papers: GolabOzsu2005 §2.1; PatroumpasSellis2011 §4.2.

        input     a: +[1, 5)     a: +[3, 9)     a: -[6, 9)
        output    a: +[1, oo)                   a: -[6, oo)
    """

    KEPT = ("_rows", "_sweep")

    def __init__(self, schema: Schema, dated: bool = False) -> None:
        self._dated = dated
        self._key = columns_key(schema, range(len(schema)))
        self._rows = KeyTable(schema.types)
        dates = [Extremum(Order(_TIME), lane, known_ends=False) for lane in (ts_of, exp_of)] if dated else []
        self._sweep = GroupSweep([Progressive([]), *dates], [_TIME] * len(dates))

    @property
    def keys(self) -> tuple[Key, ...]:
        """All columns: duplicates are equal."""
        return (self._key,)

    @property
    def stored(self) -> int:
        """Values in the answer, pending ends, and dates."""
        return self._sweep.stored

    @property
    def takes_pieces(self) -> bool:
        """Duplicates are counted piece by piece; dates need whole batches."""
        return self._sweep.takes_pieces

    @property
    def shrinks_pieces(self) -> bool:
        """Only counts by value and instant remain."""
        return True

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The values that enter the answer, leave it or get new dates."""
        return self._change(inputs, now)  # one batch is one piece

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """The same, from an input in pieces."""
        yield self._change(inputs[0], now)

    def _change(self, pieces: Iterable[Batch], now: Instant) -> Batch:
        changes = self._sweep.change_by_pieces(map(self._coded, pieces), now)
        dates = Dates(*changes.lanes) if self._dated else None
        rows = self._rows.decode(changes.code)
        self._rows.release(self._sweep.vanished)
        return Batch(rows, changes.start, changes.end, changes.sign, dates)

    def _coded(self, piece: Batch) -> CodedPiece:
        return self._rows.encode(piece.columns, len(piece)), piece
