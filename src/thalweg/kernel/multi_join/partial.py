"""Vectors of partial results: rows of the inputs that a walk has met so far, and the batch that whole ones make."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from thalweg.core.batch import Batch, Dates, Signs
from thalweg.core.lanes import Flags, Ints, Lane
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.state.run import Run
from thalweg.kernel.sweep.matches import gather, is_plain


@dataclass(frozen=True)
class Gathered:
    """Rows of several runs as one piece, copied."""

    columns: tuple[Lane, ...]
    sign: Ints | None  # None if every tuple counts once
    dates: Dates | None


@dataclass(frozen=True)
class Part:
    """Some rows of tuples."""

    tuples: Batch | Run | Gathered
    rows: Ints

    def lane(self, column: int) -> Lane:
        """A column."""
        lane: Lane = self.tuples.columns[column].take(self.rows)
        return lane

    def take(self, rows: Ints) -> Part:
        """Some of them."""
        return Part(self.tuples, self.rows.take(rows))

    @property
    def pieces(self) -> tuple[tuple[Batch | Run | Gathered, Ints], ...]:
        """The one place they lie in."""
        return ((self.tuples, self.rows),)


@dataclass(frozen=True)
class Spread:
    """Rows of an input's tuples that lie in one place or in several, one behind the other."""

    pieces: tuple[tuple[Batch | Run, Ints], ...]

    def lane(self, column: int) -> Lane:
        """A column."""
        return gather([(tuples.columns[column], rows) for tuples, rows in self.pieces])

    def take(self, rows: Ints) -> Spread:
        """Some of them, in ascending order."""
        if len(self.pieces) == 1:
            ((tuples, mine),) = self.pieces
            return Spread(((tuples, mine.take(rows)),))
        sizes = [len(mine) for _, mine in self.pieces]
        begins = np.cumsum([0, *sizes]).tolist()
        split = zip(self.pieces, begins, pairwise(np.searchsorted(rows, begins).tolist()), strict=False)
        taken = [(tuples, mine.take(rows[i:j] - begin)) for (tuples, mine), begin, (i, j) in split if i < j]
        return Spread(tuple(taken))

    def alive(self, partial: Partial, i: Ints) -> Flags | None:
        """Whether each is, together with a row of partial results; None if all are."""
        flags: Flags | None = None
        begin = 0
        for tuples, rows in self.pieces:
            mine = slice(begin, begin := begin + len(rows))
            if isinstance(tuples, Run) and tuples.first_end > partial.latest:  # what is stored has begun
                continue
            start, end = partial.start.take(i[mine]), tuples.end.take(rows)
            if isinstance(tuples, Batch):
                start = np.maximum(start, tuples.start.take(rows))
                end = np.minimum(end, partial.end.take(i[mine]))
            flags = np.ones(len(i), dtype=np.bool_) if flags is None else flags
            flags[mine] = start < end
        return flags

    def interval(self, partial: Partial, i: Ints) -> tuple[Ints, Ints]:
        """When each is alive together with a row of partial results; never, if that ends before it starts."""
        start, end = partial.start.take(i), gather([(tuples.end, rows) for tuples, rows in self.pieces])
        begin = 0
        for tuples, rows in self.pieces:
            mine = slice(begin, begin := begin + len(rows))
            if isinstance(tuples, Batch):  # what is stored has begun
                np.maximum(start[mine], tuples.start.take(rows), out=start[mine])
        return start, np.minimum(end, partial.end.take(i), out=end)

    def together(self) -> Part:
        """As one part: copied, unless all lies in one place."""
        if len(self.pieces) == 1:
            return Part(*self.pieces[0])
        columns = tuple(self.lane(c) for c in range(len(self.pieces[0][0].columns)))
        plain = all(is_plain(tuples) for tuples, _ in self.pieces)
        sign = None if plain else np.concatenate([tuples.sign.take(rows) for tuples, rows in self.pieces])
        dates = [tuples.dates.take(rows) for tuples, rows in self.pieces if tuples.dates is not None]
        both = Dates(np.concatenate([d.ts for d in dates]), np.concatenate([d.exp for d in dates])) if dates else None
        return Part(Gathered(columns, sign, both), np.arange(len(columns[0])))


@dataclass(frozen=True)
class Partial:
    """By input the rows met, the interval in which they are alive together, and codes of attributes still to meet."""

    bound: Mapping[int, Part | Spread]
    start: Ints
    end: Ints
    codes: Mapping[int, Ints]
    _lanes: dict[Hashable, Lane] = field(default_factory=dict, compare=False)  # that were asked for

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def latest(self) -> Instant:
        """When the last of them begins."""
        return int(self.start.max(initial=BEGINNING))

    def lane(self, input_: int, column: int) -> Lane:
        """A column of an input that was met."""
        return self.remembered((input_, column), lambda: self.bound[input_].lane(column))

    def remembered(self, name: Hashable, compute: Callable[[], Lane]) -> Lane:
        """A lane that is computed once."""
        if name not in self._lanes:
            self._lanes[name] = compute()
        return self._lanes[name]

    def take(self, rows: Lane) -> Partial:
        """Some of the partial results."""
        return Partial(
            {i: part.take(rows) for i, part in self.bound.items()},
            self.start[rows],
            self.end[rows],
            {attribute: codes[rows] for attribute, codes in self.codes.items()},
        )

    def counted(self) -> tuple[Partial, Signs]:
        """Each result as often as it counts, and the signs: the product of those of its parts."""
        parts = [part for part in self.bound.values() if not all(_is_plain(tuples) for tuples, _ in part.pieces)]
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


def _is_plain(tuples: Batch | Run | Gathered) -> bool:
    return tuples.sign is None if isinstance(tuples, Gathered) else is_plain(tuples)


def _signs(tuples: Batch | Run | Gathered, rows: Ints) -> Ints:
    return np.ones(len(rows), dtype=np.int64) if tuples.sign is None else tuples.sign.take(rows).astype(np.int64)


def assemble(found: Sequence[Partial], widths: Sequence[int], nothing: Batch) -> Batch:
    """The batch of whole results: the columns of all inputs in their order; ts the latest, exp the earliest."""
    if not found:
        return nothing
    results, signs = zip(*(partial.counted() for partial in found), strict=True)
    columns = [
        gather([(tuples.columns[c], rows) for result in results for tuples, rows in result.bound[i].pieces])
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


def _dates(results: Sequence[Partial], inputs: int) -> Dates:
    def lanes(i: int) -> tuple[Ints, Ints]:
        dates = [(tuples.dates, rows) for result in results for tuples, rows in result.bound[i].pieces]
        known = [(d.ts[rows], d.exp[rows]) for d, rows in dates if d is not None]
        return np.concatenate([ts for ts, _ in known]), np.concatenate([exp for _, exp in known])

    ts, exp = lanes(0)
    for i in range(1, inputs):
        other_ts, other_exp = lanes(i)
        ts, exp = np.maximum(ts, other_ts), np.minimum(exp, other_exp)
    return Dates(ts, exp)
