"""Pairs of joined tuples, and the batch that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch, Dates, Signs
from thalweg.core.lanes import Ints, Lane
from thalweg.kernel.state.run import TupleRun
from thalweg.kernel.sweep.evaluate import Condition
from thalweg.kernel.sweep.pairs import pairs

LaneRows = tuple[Lane, Ints]  # a lane, and some of its rows


@dataclass(frozen=True)
class Matches:
    """Pairs: row i[k] of `left` with row j[k] of `right`, and the interval in which both are alive."""

    left: Batch | TupleRun
    i: Ints
    right: Batch | TupleRun
    j: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.i)

    def take(self, rows: Lane) -> Matches:
        """Some of the pairs."""
        return Matches(self.left, self.i[rows], self.right, self.j[rows], self.start[rows], self.end[rows])

    def where(self, condition: Condition | None) -> Matches:
        """The pairs for which a condition over the columns of left and right is true."""
        if condition is None:
            return self
        parts = self.parts()
        lanes = [lane[rows] for lane, rows in (parts[c] for c in condition.reads)]
        return self.take(condition.holds_on(lanes, len(self)))

    def signed(self, at_once: int) -> Iterator[SignedMatches]:
        """The pairs with their signs, repeated as often as the product of their weights says.

        Repeated pairs come in parts of at most `at_once`.
        """
        if is_plain(self.left) and is_plain(self.right):
            yield self, np.ones(len(self), dtype=np.int8)
            return
        sign = self.left.sign[self.i].astype(np.int64) * self.right.sign[self.j]
        copies = np.abs(sign)
        if copies.max(initial=1) == 1:
            yield self, sign.astype(np.int8)
            return
        for rows, _ in pairs(np.zeros(len(self), dtype=np.int64), copies, at_once):
            yield self.take(rows), np.sign(sign[rows]).astype(np.int8)

    def parts(self) -> list[LaneRows]:
        """The columns of the result, as rows of the columns of left and right."""
        return [(c, self.i) for c in self.left.columns] + [(c, self.j) for c in self.right.columns]


SignedMatches = tuple[Matches, Signs]


def signed(found: Iterable[Matches], at_once: int) -> Iterator[SignedMatches]:
    """All pairs with their signs, in parts, of which none is empty."""
    for matches in found:
        if len(matches):
            yield from matches.signed(at_once)


def assemble(found: Sequence[SignedMatches], nothing: Batch, dates_from_left: bool) -> Batch:
    """The batch of all pairs. Each column is written once, because joins spend most of their time on writing."""
    if not found:
        return nothing
    matches, signs = zip(*found, strict=True)
    columns = tuple(gather(parts) for parts in zip(*(m.parts() for m in matches), strict=True))
    return Batch(
        columns,
        np.concatenate([m.start for m in matches]),
        np.concatenate([m.end for m in matches]),
        np.concatenate(signs),
        _dates(matches, dates_from_left),
    )


def gather(parts: Sequence[LaneRows]) -> Lane:
    """Copy rows of several lanes into one lane."""
    if len(parts) == 1:
        ((only, rows),) = parts
        taken: Lane = only.take(rows)
        return taken
    whole = np.empty(sum(len(rows) for _, rows in parts), dtype=parts[0][0].dtype)
    done = 0
    for lane, rows in parts:
        lane.take(
            rows, out=whole[done : done + len(rows)], mode="clip"
        )  # rows are valid; the mode "raise" would make a copy
        done += len(rows)
    return whole


def _dates(matches: Sequence[Matches], dates_from_left: bool) -> Dates | None:
    left = [(m.left.dates, m.i) for m in matches if m.left.dates is not None]
    right = [(m.right.dates, m.j) for m in matches if m.right.dates is not None]
    if not left:
        return None
    ts = gather([(dates.ts, rows) for dates, rows in left])
    exp = gather([(dates.exp, rows) for dates, rows in left])
    if not dates_from_left:
        np.maximum(ts, gather([(dates.ts, rows) for dates, rows in right]), out=ts)
        np.minimum(exp, gather([(dates.exp, rows) for dates, rows in right]), out=exp)
    return Dates(ts, exp)


def is_plain(tuples: Batch | TupleRun) -> bool:
    """Whether every tuple has weight 1."""
    return tuples.is_plain if isinstance(tuples, TupleRun) else bool((tuples.sign == 1).all())
