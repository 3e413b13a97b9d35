"""The last n of each key, given the order in which tuples are let in: what ROWS and PARTITION BY have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thalweg.core.batch import Batch, Dates
from thalweg.core.lanes import Ints, Lane, lane_dtype
from thalweg.core.schema import Schema
from thalweg.core.time import FOREVER, Instant
from thalweg.operators.segments import rank_within, run_ends, run_starts
from thalweg.operators.windows.order import order_of_codes
from thalweg.operators.windows.queues import Queues
from thalweg.state.coder import KeyCoder


@dataclass(frozen=True)
class LetIn:
    """Tuples let in at one step: how many for each key, and those that remain among the last n of theirs."""

    keys: Ints
    added: Ints
    row_keys: Ints
    ranks: Ints
    rows: tuple[Lane, ...]
    now: Instant


class LastOfEach:
    """+[start, end) for each tuple let in, cut short at u = start of the n-th tuple of its key let in after it.

    If that one is in the same batch the output is +[start, u) at once, else it is -[u, end) when it comes. State: a
    queue per key (seed 002, section 3.3.2).
    """

    def __init__(self, keys: Sequence[int], count: int, schema: Schema, dated: bool) -> None:
        self._keys = keys
        self._count = count
        self._dated = dated
        self._coder = KeyCoder(len(keys))
        dates = [np.int64] if dated else []
        self._queues = Queues([np.int64, *(lane_dtype(t) for t in schema.types), *dates], count)

    def weigh(self, entering: Batch, now: Instant) -> tuple[Batch, LetIn]:
        """What entering tuples add to the output, and what they would add to the queues."""
        codes = self._coder.encode([entering.columns[k] for k in self._keys], len(entering))
        self._queues.reach(self._coder.size)
        place = _Places.of(codes, self._count, keyed=bool(self._keys))
        until = np.append(entering.start, FOREVER)[place.successor]
        shown = entering.between(entering.start, np.minimum(until, entering.end))
        ranks = self._queues.came(codes) + place.rank
        remain = np.flatnonzero(place.successor == len(codes))
        update = LetIn(place.keys, place.added, codes[remain], ranks[remain], self._lanes(entering.take(remain)), now)
        return Batch.concat([shown, self._displaced(entering, codes, place.rank, ranks)]), update

    def commit(self, update: LetIn) -> None:
        """Queue the tuples."""
        if len(update.keys):
            self._queues.append(update.keys, update.added, update.row_keys, update.ranks, update.rows, update.now)

    @property
    def stored(self) -> int:
        """The tuples in the queues."""
        return len(self._queues)

    def _displaced(self, entering: Batch, codes: Ints, rank: Ints, ranks: Ints) -> Batch:
        """The tuples of earlier batches that entering ones displace."""
        old = ranks - self._count
        who = np.flatnonzero((rank < self._count) & self._queues.holds(codes, old))
        end, *rest = self._queues.read(codes[who], old[who])
        dates = Dates(rest.pop(), end) if self._dated else None
        start = entering.start[who]
        return Batch(tuple(rest), start, end, np.full(len(who), -1, dtype=np.int8), dates).between(start, end)

    def _lanes(self, tuples: Batch) -> tuple[Lane, ...]:
        ts = () if tuples.dates is None else (tuples.dates.ts,)
        return (tuples.end, *tuples.columns, *ts)


@dataclass(frozen=True)
class _Places:
    """Where tuples stand within their keys."""

    rank: Ints  # 0, 1, 2 ... within the key
    successor: Ints  # the position of the n-th one after it in the key; the number of tuples if there is none
    keys: Ints  # the distinct keys
    added: Ints  # and how many tuples each has

    @staticmethod
    def of(codes: Ints, n: int, keyed: bool) -> _Places:
        rows = len(codes)
        if not keyed:
            position = np.arange(rows)
            return _Places(position, np.minimum(position + n, rows), codes[:1], np.full(min(rows, 1), rows))
        order = order_of_codes(codes)
        in_order = codes[order]
        starts = run_starts(in_order)
        rank, successor = np.empty(rows, dtype=np.int64), np.full(rows, rows)
        ranked = rank_within(starts)
        rank[order] = ranked
        if n < rows:
            same = in_order[n:] == in_order[:-n]
            successor[order[:-n][same]] = order[n:][same]
        return _Places(rank, successor, in_order[starts], ranked[run_ends(starts)] + 1)
