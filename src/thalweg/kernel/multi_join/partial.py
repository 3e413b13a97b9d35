"""Vectors of partial results, which consist of rows of the inputs joined so far; and the batch of complete results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from thalweg.core.batch import Batch, Dates, Signs
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.matches import gather, is_plain


@dataclass(frozen=True)
class CopiedTuples:
    """Copies of rows of several runs."""

    columns: tuple[Lane, ...]
    sign: Ints | None  # None if every weight is 1
    dates: Dates | None


@dataclass(frozen=True)
class InputRows:
    """Some rows of one run, batch or copy."""

    tuples: Batch | TupleRun | CopiedTuples
    rows: Ints

    def lane(self, column: int) -> Lane:
        """A column."""
        lane: Lane = self.tuples.columns[column].take(self.rows)
        return lane

    def take(self, rows: Ints) -> InputRows:
        """Some of the rows."""
        return InputRows(self.tuples, self.rows.take(rows))

    @property
    def pieces(self) -> tuple[tuple[Batch | TupleRun | CopiedTuples, Ints], ...]:
        """The rows as one piece."""
        return ((self.tuples, self.rows),)


@dataclass(frozen=True)
class ScatteredRows:
    """Rows of an input's tuples that lie in one or more runs or batches."""

    pieces: tuple[tuple[Batch | TupleRun, Ints], ...]

    def lane(self, column: int) -> Lane:
        """A column."""
        return gather([(tuples.columns[column], rows) for tuples, rows in self.pieces])

    def take(self, rows: Ints) -> ScatteredRows:
        """Some of the rows, given as ascending positions."""
        if len(self.pieces) == 1:
            ((tuples, own),) = self.pieces
            return ScatteredRows(((tuples, own.take(rows)),))
        sizes = [len(own) for _, own in self.pieces]
        begins = np.cumsum([0, *sizes]).tolist()
        split = zip(self.pieces, begins, pairwise(np.searchsorted(rows, begins).tolist()), strict=False)
        taken = [(tuples, own.take(rows[i:j] - begin)) for (tuples, own), begin, (i, j) in split if i < j]
        return ScatteredRows(tuple(taken))

    def alive(self, partial: PartialResults, i: Ints) -> Flags | None:
        """Which rows are alive together with rows i of the partial results; None if all are."""
        flags: Flags | None = None
        begin = 0
        for tuples, rows in self.pieces:
            part = slice(begin, begin := begin + len(rows))
            if isinstance(tuples, TupleRun) and tuples.first_end > partial.latest:  # and stored tuples have started
                continue
            start, end = partial.start.take(i[part]), tuples.end.take(rows)
            if isinstance(tuples, Batch):
                start = np.maximum(start, tuples.start.take(rows))
                end = np.minimum(end, partial.end.take(i[part]))
            flags = np.ones(len(i), dtype=np.bool_) if flags is None else flags
            flags[part] = start < end
        return flags

    def interval(self, partial: PartialResults, i: Ints) -> tuple[Ints, Ints]:
        """The intervals in which rows are alive together with rows i of the partial results; some may be empty."""
        start, end = partial.start.take(i), gather([(tuples.end, rows) for tuples, rows in self.pieces])
        begin = 0
        for tuples, rows in self.pieces:
            part = slice(begin, begin := begin + len(rows))
            if isinstance(tuples, Batch):  # stored tuples have started
                np.maximum(start[part], tuples.start.take(rows), out=start[part])
        return start, np.minimum(end, partial.end.take(i), out=end)

    def gathered(self) -> InputRows:
        """The rows as one piece: copied, unless they lie in one run or batch."""
        if len(self.pieces) == 1:
            return InputRows(*self.pieces[0])
        columns = tuple(self.lane(c) for c in range(len(self.pieces[0][0].columns)))
        plain = all(is_plain(tuples) for tuples, _ in self.pieces)
        sign = None if plain else np.concatenate([tuples.sign.take(rows) for tuples, rows in self.pieces])
        dates = [tuples.dates.take(rows) for tuples, rows in self.pieces if tuples.dates is not None]
        both = Dates(np.concatenate([d.ts for d in dates]), np.concatenate([d.exp for d in dates])) if dates else None
        return InputRows(CopiedTuples(columns, sign, both), np.arange(len(columns[0])))


@dataclass(frozen=True)
class PartialResults:
    """By input the rows joined, their common intervals, and by attribute the codes that later steps compare."""

    rows: Mapping[int, InputRows | ScatteredRows]
    start: Ints
    end: Ints
    codes: Mapping[int, Ints]
    _lanes: dict[Hashable, Lane] = field(default_factory=dict, compare=False)  # a cache

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def latest(self) -> Instant:
        """The latest start."""
        return int(self.start.max(initial=BEGINNING))

    def lane(self, input_: int, column: int) -> Lane:
        """A column of an input that has been joined."""
        return self.cached((input_, column), lambda: self.rows[input_].lane(column))

    def cached(self, name: Hashable, compute: Callable[[], Lane]) -> Lane:
        """A lane that is computed once for each name."""
        if name not in self._lanes:
            self._lanes[name] = compute()
        return self._lanes[name]

    def take(self, rows: Lane) -> PartialResults:
        """Some of the partial results."""
        return PartialResults(
            {i: part.take(rows) for i, part in self.rows.items()},
            self.start[rows],
            self.end[rows],
            {attribute: codes[rows] for attribute, codes in self.codes.items()},
        )

    def unweighted(self) -> tuple[PartialResults, Signs]:
        """The results, repeated as often as the product of their weights says, and their signs."""
        parts = [part for part in self.rows.values() if not all(_is_plain(tuples) for tuples, _ in part.pieces)]
        sign = np.ones(len(self), dtype=np.int64)
        for part in parts:
            sign *= np.concatenate([_signs(tuples, rows) for tuples, rows in part.pieces])
        if not parts:
            return self, sign.astype(np.int8)
        copies = np.abs(sign)
        if (copies == 1).all():
            return self, sign.astype(np.int8)
        rows = np.repeat(np.arange(len(self)), copies)
        return self.take(rows), np.sign(sign.take(rows)).astype(np.int8)


def _is_plain(tuples: Batch | TupleRun | CopiedTuples) -> bool:
    return tuples.sign is None if isinstance(tuples, CopiedTuples) else is_plain(tuples)


def _signs(tuples: Batch | TupleRun | CopiedTuples, rows: Ints) -> Ints:
    return np.ones(len(rows), dtype=np.int64) if tuples.sign is None else tuples.sign.take(rows).astype(np.int64)


def assemble(found: Sequence[PartialResults], widths: Sequence[int], nothing: Batch) -> Batch:
    """The batch of complete results: the columns of all inputs in their order, the latest ts, the earliest exp."""
    if not found:
        return nothing
    results, signs = zip(*(partial.unweighted() for partial in found), strict=True)
    columns = [
        gather([(tuples.columns[c], rows) for result in results for tuples, rows in result.rows[i].pieces])
        for i, width in enumerate(widths)
        for c in range(width)
    ]
    return Batch(
        tuple(columns),
        np.concatenate([result.start for result in results]),
        np.concatenate([result.end for result in results]),
        np.concatenate(signs),
        None if nothing.dates is None else _dates(results, len(widths)),
    )


def _dates(results: Sequence[PartialResults], inputs: int) -> Dates:
    def lanes(i: int) -> tuple[Ints, Ints]:
        dates = [(tuples.dates, rows) for result in results for tuples, rows in result.rows[i].pieces]
        known = [(d.ts[rows], d.exp[rows]) for d, rows in dates if d is not None]
        return np.concatenate([ts for ts, _ in known]), np.concatenate([exp for _, exp in known])

    ts, exp = lanes(0)
    for i in range(1, inputs):
        other_ts, other_exp = lanes(i)
        ts, exp = np.maximum(ts, other_ts), np.minimum(exp, other_exp)
    return Dates(ts, exp)
