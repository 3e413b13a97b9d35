"""The multi-way join, evaluated again at an interval (LAZY and GENERAL LAZY of GolabOzsu2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.multi_join.join import MultiJoin
from thalweg.kernel.multi_join.partial import assemble
from thalweg.kernel.multi_join.view import Extras


class LazyMultiJoin(MultiJoin, kind="lazy-multi-join/1"):
    """At instants T, multiples of `interval`, what came since the last one is joined.

    A result alive during [s, e) is shown during [T, max(e, T + 1)), with T the first such instant not before s: none is
    lost, none repeated, and what has been shown ends when it should. So tuples stay in the state until all that came
    while they were alive has been joined; those of count windows end when later ones push them out, which is the
    counter rule of section 3.6. An evaluation at T is repeated while T is still told, and replaces what it had shown.
    """

    KEPT: ClassVar[tuple[str, ...]] = (
        *MultiJoin.KEPT,
        "_waiting",
        "_deleted_since",
        "_emitted",
        "_open_instant",
        "_last_evaluation",
    )

    def __init__(self, *args: Any, interval: int, **options: Any) -> None:
        """`interval` is in ticks, the rest as for a join that is evaluated with every batch."""
        super().__init__(*args, **options)
        self._interval = interval
        empty = self._coded(self._empty_inputs())
        self._waiting: list[Batch] = list(empty)  # tuples that have not been joined
        self._deleted_since: list[Batch] = list(
            empty
        )  # those that were joined and deleted since; they end when that was
        self._emitted: Batch | None = None  # at the instant that is open
        self._open_instant: Instant | None = None
        self._last_evaluation: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """With the tuples that wait to be joined, and those that are still to be met."""
        return super().stored + sum(map(len, self._waiting)) + sum(map(len, self._deleted_since))

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The results of evaluations up to `now`, and early ends of what was shown before."""
        coded = self._coded(inputs)
        latest = now // self._interval * self._interval
        out = [self._nothing]
        for t in dict.fromkeys([latest if self._open_instant is None else self._open_instant, latest]):
            if t > self._last_evaluation:
                early = [batch.take(batch.start <= t) for batch in coded]
                coded = [batch.take(batch.start > t) for batch in coded]
                if t != self._open_instant or any(map(len, early)):
                    out += self._evaluate(early, t)
                self._open_instant = t
                if t < now:
                    self._close(t)
        if any(map(len, coded)):
            out.append(self._wait(coded, now))
        return Batch.concat(out)

    def _wait(self, coded: Sequence[Batch], now: Instant) -> Batch:
        """New tuples wait; those that delete what has been joined end its results at once."""
        if all((batch.sign > 0).all() for batch in coded):
            self._waiting = [Batch.concat(both) for both in zip(self._waiting, coded, strict=True)]
            return self._nothing
        told = self._tell([Batch.concat(both) for both in zip(self._waiting, coded, strict=True)])
        begun = _first([t.deleting for t in told], now)
        left = [t.until_deleted(begun - 1) for t in told]
        found = list(self._deleted(told, [Extras(tuples) for tuples in left], begun - 1))
        self._waiting = [t.kept for t in told]
        self._deleted_since = [Batch.concat(both) for both in zip(self._deleted_since, left, strict=True)]
        return assemble(found, self._widths, self._nothing)

    def _evaluate(self, coded: Sequence[Batch], t: Instant) -> list[Batch]:
        """All that waits is joined, and shown in place of what was shown at t before."""
        ended = self._wait(coded, t)
        begun = _first(self._waiting, t)
        left = [gone.between(np.full(len(gone), begun), gone.end) for gone in self._deleted_since]
        found = list(self._added(self._waiting, [Extras(tuples) for tuples in left]))
        results = assemble(found, self._widths, self._nothing)
        start = -(-results.start // self._interval) * self._interval
        shown = replace(results, start=start, end=np.maximum(results.end, start + 1))
        before = [] if self._emitted is None else [self._emitted.negated()]
        self._emitted = shown
        return [ended, *before, shown]

    def _close(self, t: Instant) -> None:
        """Nothing more will be told of t: what was joined then is stored."""
        waiting = self._waiting
        self._keep([stored.by_key(new) for stored, new in zip(self._stored, waiting, strict=True)], t)
        self._waiting = [tuples.take(slice(0, 0)) for tuples in waiting]
        self._deleted_since = [tuples.take(slice(0, 0)) for tuples in self._deleted_since]
        self._emitted, self._open_instant, self._last_evaluation = None, None, t
        self._look(waiting, t)

    def _empty_inputs(self) -> list[Batch]:
        ends = np.cumsum(self._widths)
        return [
            replace(self._nothing, columns=self._nothing.columns[end - width : end])
            for end, width in zip(ends.tolist(), self._widths, strict=True)
        ]


def _first(batches: Sequence[Batch], now: Instant) -> Instant:
    """When the first of some tuples begins."""
    return min(int(batch.start.min(initial=now)) for batch in batches)
