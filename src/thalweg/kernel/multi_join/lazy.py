"""The multi-way join, evaluated at intervals (LAZY and GENERAL LAZY of GolabOzsu2003)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.multi_join.coding import InputCoding
from thalweg.kernel.multi_join.join import MultiJoin, first_start
from thalweg.kernel.multi_join.view import UnstoredTuples
from thalweg.kernel.operator import Operator
from thalweg.kernel.state.run import TupleRun


class LazyMultiJoin(MultiJoin, kind="lazy-multi-join/1"):
    """S1 |x| ... |x| Sn, where arrivals since the last evaluation are joined at instants T, multiples of `interval`.

    A result that is alive during [s, e) is emitted as [T, max(e, T + 1)), with T the first such instant at or after s.
    So no result is lost or repeated, and an emitted result ends at its time. Tuples stay in the state until all tuples
    that arrived while they were alive have been joined; tuples of count windows end when later ones push them out,
    which is the counter rule of §3.6. While T is the current instant, each batch evaluates T again and replaces the
    results that were emitted for it.

    Update pattern and state: those of MultiJoin, and the tuples since the last evaluation. Paper: GolabOzsu2003 §3.6.
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
        """`interval` is in ticks; the other arguments are those of MultiJoin."""
        super().__init__(*args, **options)
        self._interval = interval
        empty = self._coded(self._empty_inputs())
        self._waiting: list[Batch] = list(empty)  # tuples that have not been joined
        self._deleted_since: list[Batch] = list(
            empty
        )  # tuples that were joined and deleted since, cut at their deletion
        self._emitted: Batch | None = None  # results of the open instant
        self._open_instant: Instant | None = None  # evaluated, but more tuples of it may arrive
        self._last_evaluation: Instant = BEGINNING

    @property
    def stored(self) -> int:
        """The stored tuples, those that have not been joined, and deleted ones that have partners to come."""
        return super().stored + sum(map(len, self._waiting)) + sum(map(len, self._deleted_since))

    @property
    def makes_pieces(self) -> bool:
        """The results of the open instant are stored, so they fit into memory."""
        return False

    def pieces(self, inputs: Sequence[Iterable[Batch]], now: Instant) -> Iterator[Batch]:
        """All results in one piece."""
        return Operator.pieces(self, inputs, now)

    def process(self, inputs: Sequence[Batch], now: Instant) -> Batch:
        """The results of evaluations up to `now`, and deletions of results that were emitted before."""
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
        self._forget()
        return Batch.concat(out)

    def _coded_tuples(self) -> Iterator[tuple[InputCoding, Batch | TupleRun]]:
        yield from super()._coded_tuples()
        for tuples in (self._waiting, self._deleted_since):
            yield from zip(self._codings, tuples, strict=True)

    def _wait(self, coded: Sequence[Batch], now: Instant) -> Batch:
        """Collect new tuples for the next evaluation; emit at once the results that negative tuples delete."""
        if all((batch.sign > 0).all() for batch in coded):
            self._waiting = [Batch.concat(both) for both in zip(self._waiting, coded, strict=True)]
            return self._nothing
        changes = self._delete([Batch.concat(both) for both in zip(self._waiting, coded, strict=True)])
        begun = first_start([c.deleting for c in changes], now)
        leaving = [c.until_deleted(begun - 1) for c in changes]
        found = self._assembled(self._deleted(changes, [UnstoredTuples(tuples) for tuples in leaving], begun - 1))
        self._waiting = [c.kept for c in changes]
        self._deleted_since = [Batch.concat(both) for both in zip(self._deleted_since, leaving, strict=True)]
        return found

    def _evaluate(self, coded: Sequence[Batch], t: Instant) -> list[Batch]:
        """Join all waiting tuples, and replace the results that were emitted for t before."""
        ended = self._wait(coded, t)
        begun = first_start(self._waiting, t)
        leaving = [old.between(np.full(len(old), begun), old.end) for old in self._deleted_since]
        results = self._assembled(self._added(self._waiting, [UnstoredTuples(tuples) for tuples in leaving]))
        start = -(-results.start // self._interval) * self._interval
        emitted = replace(results, start=start, end=np.maximum(results.end, start + 1))
        before = [] if self._emitted is None else [self._emitted.negated()]
        self._emitted = emitted
        return [ended, *before, emitted]

    def _close(self, t: Instant) -> None:
        """Time has passed t: store the tuples that were joined at t."""
        waiting = self._waiting
        self._keep([stored.by_key(new) for stored, new in zip(self._stored, waiting, strict=True)], t)
        self._waiting = [tuples.take(slice(0, 0)) for tuples in waiting]
        self._deleted_since = [tuples.take(slice(0, 0)) for tuples in self._deleted_since]
        self._emitted, self._open_instant, self._last_evaluation = None, None, t
        self._reorder(waiting, t)

    def _empty_inputs(self) -> list[Batch]:
        ends = np.cumsum(self._widths)
        return [
            replace(self._nothing, columns=self._nothing.columns[end - width : end])
            for end, width in zip(ends.tolist(), self._widths, strict=True)
        ]
