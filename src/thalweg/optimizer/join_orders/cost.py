"""The cost of a join order: attribute comparisons per unit of time (GolabOzsu2003 §4.2).

A walk starts with the new tuples of one input and joins the other inputs one after the other. With n partial results,
each further stream j costs n times the tuples of j that a probe reads: all C_j in nested loops, C_j / b_j in a hash
table of b_j buckets. Then n := n C_j / max(v, v_j) and v := min(v, v_j) for every attribute that j shares with the
streams before it. Of two value sets, one is assumed to contain the other, with all values equally frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from thalweg.core.errors import PlanError
from thalweg.core.stream_statistics import Orders, StreamStatistics


class PartialWalk(NamedTuple):
    """The first streams of a walk: partial results, their distinct values by attribute, and the cost so far."""

    n: float
    values: tuple[float | None, ...]
    cost: float


@dataclass(frozen=True)
class CostModel:
    """Costs of join orders over some streams.

    `buckets` gives for each stream the number of buckets of its hash table. 1 means a scan. None means a table by dense
    codes: every bucket holds the tuples of one value, so a probe costs one comparison and one for each partner.
    `interval` is the time between two evaluations, 0 for one with every arrival. Until the next evaluation, windows
    still hold tuples that have expired since the last one.
    """

    streams: Sequence[StreamStatistics]
    buckets: Sequence[int | None]
    interval: float = 0.0

    @staticmethod
    def nested_loops(streams: Sequence[StreamStatistics], interval: float = 0.0) -> CostModel:
        """The model in which every probe scans the window."""
        return CostModel(streams, [1] * len(streams), interval)

    def global_order(self, order: Sequence[int]) -> float:
        """The cost of one order for all sources; a source moves to the front for its own new tuples."""
        return self.local_orders([in_front(order, i) for i in range(len(self.streams))])

    def local_orders(self, orders: Orders | Sequence[Sequence[int]]) -> float:
        """The cost of one order per source: the sum over the sources."""
        return sum(self.walk(source, order) for source, order in enumerate(orders))

    def walk(self, source: int, order: Sequence[int]) -> float:
        """The cost per unit of time of joining the new tuples of a source in this order."""
        walk = self.begin(source, order[0])
        for j in order[1:]:
            walk = self.extend(walk, source, j)
        return walk.cost

    def begin(self, source: int, first: int) -> PartialWalk:
        """The walk of a source's new tuples after its first stream; it has no cost yet."""
        return PartialWalk(self._size(source, first), self.streams[first].distinct, 0.0)

    def extend(self, walk: PartialWalk, source: int, j: int) -> PartialWalk:
        """The walk with one more stream; its cost never decreases."""
        size = self._size(source, j)
        partners, values = size, list[float | None]()
        for before, added in zip(walk.values, self.streams[j].distinct, strict=True):
            if before is not None and added is not None:
                partners /= max(before, added)
                values.append(min(before, added))
            else:
                values.append(added if before is None else before)
        compared = walk.n * self._probed(j, size, partners)
        return PartialWalk(walk.n * partners, tuple(values), walk.cost + self._evaluations(source) * compared)

    def _evaluations(self, source: int) -> float:
        """How often per unit of time new tuples of a source are joined."""
        return 1.0 / self.interval if self.interval else self.streams[source].rate

    def _size(self, source: int, j: int) -> float:
        """How many tuples of a stream take part: of the source only the new ones."""
        stream = self.streams[j]
        if j == source:
            return stream.rate * self.interval if self.interval else 1.0
        return stream.size + stream.rate * self.interval / 2

    def _probed(self, j: int, size: float, partners: float) -> float:
        buckets = self.buckets[j]
        return 1.0 + partners if buckets is None else size / buckets


def in_front(order: Sequence[int], source: int) -> tuple[int, ...]:
    """The order with a stream moved to the front."""
    return (source, *(i for i in order if i != source))


def bucket_sizes(streams: Sequence[StreamStatistics], total: int) -> tuple[int, ...]:
    """How many buckets each stream's hash table should have: at least one each, `total` together.

    (M5; GolabOzsu2003 §5.3 and 6.5.) A window is probed w_j times per unit of time, and each probe reads a bucket of
    C_j / b_j tuples. For a given number of buckets the sum of w_j C_j / b_j is smallest when b_j grows with the square
    root of w_j C_j. So fast streams and large windows get larger tables, but less than in proportion, and slow streams
    need an index too: in Figure 4(b) "1 to slow" falls behind "10 to slow" as the number of buckets grows. Every new
    tuple of any other stream probes a window first of all, so w_j is taken as the sum of their rates.

    The kernel's tables have a bucket for each value that occurs, so that no bucket holds two values, and more buckets
    would not help. This rule serves the cost model, and tables of another kind.
    """
    if total < len(streams):
        raise PlanError(f"{len(streams)} hash tables need at least {len(streams)} buckets, not {total}")
    rates = sum(stream.rate for stream in streams)
    weights = [sqrt(max(0.0, (rates - stream.rate) * stream.size)) or 1.0 for stream in streams]
    spare = total - len(streams)
    exact = [spare * weight / sum(weights) for weight in weights]
    sizes = [1 + int(share) for share in exact]
    remainders = sorted(range(len(streams)), key=lambda i: (int(exact[i]) - exact[i], i))
    for i in remainders[: total - sum(sizes)]:
        sizes[i] += 1
    return tuple(sizes)
