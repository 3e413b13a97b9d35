"""Vectors of partial results: rows of the inputs that a walk has met so far, and the batch that whole ones make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.core.batch import Batch, Dates, Signs
from thalweg.core.lanes import Ints, Lane
from thalweg.operators.matches import gather, is_plain
from thalweg.state.run import Run


@dataclass(frozen=True)
class Gathered:
    """Rows of several runs as one piece, copied."""

    columns: tuple[Lane, ...]
    sign: Ints
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

    def take(self, rows: Lane) -> Part:
        """Some of them."""
        return Part(self.tuples, self.rows[rows])

    @property
    def counts(self) -> Ints | None:
        """How often each counts; None if all count once."""
        plain = not isinstance(self.tuples, Gathered) and is_plain(self.tuples)
        return None if plain else self.tuples.sign[self.rows].astype(np.int64)

    @staticmethod
    def joined(parts: Sequence[Part]) -> Part:
        """Several as one; what lies in one place stays there."""
        first = parts[0].tuples
        if all(part.tuples is first for part in parts):
            return Part(first, parts[0].rows if len(parts) == 1 else np.concatenate([part.rows for part in parts]))
        columns = tuple(
            gather([(part.tuples.columns[c], part.rows) for part in parts]) for c in range(len(first.columns))
        )
        sign = np.concatenate([part.tuples.sign[part.rows].astype(np.int64) for part in parts])
        dates = [part.tuples.dates.take(part.rows) for part in parts if part.tuples.dates is not None]
        both = Dates(np.concatenate([d.ts for d in dates]), np.concatenate([d.exp for d in dates])) if dates else None
        return Part(Gathered(columns, sign, both), np.arange(len(sign)))


@dataclass(frozen=True)
class Partial:
    """By input the rows met, the interval in which they are alive together, and codes of attributes still to meet."""

    bound: Mapping[int, Part]
    start: Ints
    end: Ints
    codes: Mapping[int, Ints]
    _lanes: dict[tuple[int, int], Lane] = field(default_factory=dict, compare=False)  # that were asked for

    def __len__(self) -> int:
        return len(self.start)

    def lane(self, input_: int, column: int) -> Lane:
        """A column of an input that was met."""
        if (input_, column) not in self._lanes:
            self._lanes[input_, column] = self.bound[input_].lane(column)
        return self._lanes[input_, column]

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
        sign = np.ones(len(self), dtype=np.int64)
        for part in self.bound.values():
            counts = part.counts
            if counts is not None:
                sign *= counts
        copies = np.abs(sign)
        if (copies == 1).all():
            return self, sign.astype(np.int8)
        rows = np.repeat(np.arange(len(self)), copies)
        return self.take(rows), np.sign(sign[rows]).astype(np.int8)


def assemble(found: Sequence[Partial], widths: Sequence[int], nothing: Batch) -> Batch:
    """The batch of whole results: the columns of all inputs in their order; ts the latest, exp the earliest."""
    if not found:
        return nothing
    results, signs = zip(*(partial.counted() for partial in found), strict=True)
    columns = [
        gather([(result.bound[i].tuples.columns[c], result.bound[i].rows) for result in results])
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
        dates = [(result.bound[i].tuples.dates, result.bound[i].rows) for result in results]
        known = [(d.ts[rows], d.exp[rows]) for d, rows in dates if d is not None]
        return np.concatenate([ts for ts, _ in known]), np.concatenate([exp for _, exp in known])

    ts, exp = lanes(0)
    for i in range(1, inputs):
        other_ts, other_exp = lanes(i)
        ts, exp = np.maximum(ts, other_ts), np.minimum(exp, other_exp)
    return Dates(ts, exp)
