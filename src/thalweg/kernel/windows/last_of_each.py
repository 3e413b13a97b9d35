"""The last n tuples of each key, in the order in which tuples enter: the common part of ROWS and PARTITION BY."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.state.queues import Queues
from thalweg.kernel.state.snapshot import Stateful, immutable
from thalweg.kernel.state.table import KeyTable
from thalweg.kernel.sweep.ordering import stable_order
from thalweg.kernel.sweep.segments import rank_within, run_ends, run_starts

_LEAST_QUEUED_BEFORE_CLEANUP = 64


@immutable("count-window-entry/1")
@dataclass(frozen=True)
class Admitted:
    """Tuples that entered at one step and are among the last n of their keys, key by key, with ranks 0, 1, 2 ..."""

    codes: Ints
    ranks: Ints
    rows: tuple[Lane, ...]
    now: Instant


class LastOfEach(Stateful, kind="last-of-each/1"):
    """+[start, end) for each tuple that enters, cut at u, the start of the n-th tuple of its key that enters after it.

    If that tuple is in the same batch, the output is +[start, u); otherwise -[u, end) follows when it enters.
    State: a queue for each key, of at most n tuples (PatroumpasSellis2011 §3.3.2).
    """

    KEPT = ("_coder", "_queues", "_queued_since_cleanup", "_cleanup_after")

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._keys = keys
        self._count = count
        self._dated = dated
        self._coder = KeyTable.of_width(len(keys))
        self._queues = Queues([np.int64, *(lane_dtype(t) for t in schema.types), *([np.int64] if dated else [])])
        self._queued_since_cleanup = 0  # tuples with a known end that were queued since the last cleanup
        self._cleanup_after = _LEAST_QUEUED_BEFORE_CLEANUP  # so many of them

    def evaluate(self, entering: Batch, now: Instant) -> tuple[Batch, Admitted]:
        """The changes of the output if these tuples enter, and the tuples to be queued."""
        codes = self._coder.encode([entering.columns[k] for k in self._keys], len(entering))
        self._queues.reach(self._coder.size)
        order = stable_order(codes) if self._keys else np.arange(len(codes))
        in_order = codes[order]
        successor = self._successors(order, in_order)
        until = np.append(entering.start, FOREVER)[successor]
        shown = entering.between(entering.start, np.minimum(until, entering.end))
        last = order[successor[order] == len(codes)]
        ranks = rank_within(run_starts(codes[last]))
        update = Admitted(codes[last], ranks, self._lanes(entering.take(last)), now)
        return Batch.concat([shown, self._displaced(entering.start[order], in_order)]), update

    def commit(self, update: Admitted) -> None:
        """Queue the tuples; older tuples leave, so that each queue has at most n."""
        ends = run_ends(run_starts(update.codes))
        keys, added = update.codes[ends], update.ranks[ends] + 1
        first, last = self._queues.first, self._queues.last
        first[keys] = np.maximum(first[keys], last[keys] + added - self._count)
        self._queues.append(update.codes, update.ranks, update.rows, update.now)
        self._clean_up(update)
        if self._coder.forget(lambda: [self._inhabited(update.now)]):
            self._queues.clear(self._coder.size)

    @property
    def stored(self) -> int:
        """The number of tuples in the queues."""
        return int((self._queues.last - self._queues.first).sum())

    def _inhabited(self, now: Instant) -> Ints:
        """The codes of keys that have tuples."""
        self._queues.alive(now)
        return np.flatnonzero(self._queues.first < self._queues.last)

    def _clean_up(self, update: Admitted) -> None:
        """Drop ended tuples, also of keys that never return; so rarely that it costs little for each tuple."""
        self._queued_since_cleanup += int(np.count_nonzero(update.rows[0] < FOREVER))
        if self._queued_since_cleanup > self._cleanup_after:
            alive = self._queues.alive(update.now)
            self._queued_since_cleanup = 0
            self._cleanup_after = max(_LEAST_QUEUED_BEFORE_CLEANUP, alive, self._coder.size // 16)

    def _successors(self, order: Ints, codes: Ints) -> Ints:
        """For each tuple the position of the n-th tuple of its key after it; the number of tuples if there is none."""
        n, rows = self._count, len(order)
        successor = np.full(rows, rows)
        if n < rows:
            same = codes[n:] == codes[:-n]
            successor[order[:-n][same]] = order[n:][same]
        return successor

    def _displaced(self, start: Ints, codes: Ints) -> Batch:
        """Negative tuples for tuples of earlier steps that entering tuples, given key by key, displace."""
        rank = rank_within(run_starts(codes))
        number = self._queues.last[codes] + 1 + rank - self._count
        rows = np.flatnonzero((rank < self._count) & (number > self._queues.first[codes]))
        end, *rest = self._queues.read(self._queues.slots(codes[rows], number[rows]))
        dates = Dates(rest.pop(), end) if self._dated else None
        signs = np.full(len(rows), -1, dtype=np.int8)
        return Batch(tuple(rest), start[rows], end, signs, dates).between(start[rows], end)

    def _lanes(self, tuples: Batch) -> tuple[Lane, ...]:
        ts = () if tuples.dates is None else (tuples.dates.ts,)
        return (tuples.end, *tuples.columns, *ts)
