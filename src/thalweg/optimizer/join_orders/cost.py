"""What an order costs: attribute comparisons per unit of time (GolabOzsu2003 §4.2).

A walk begins with the tuples of one input and meets the others one by one. With n partial results, each further stream
j costs n times the tuples of j that are looked at: all C_j in nested loops, C_j / b_j in a hash table of b_j buckets.
Then n := n C_j / max(v, v_j) and v := min(v, v_j) for every attribute that j shares with the streams before it (value
sets are contained in each other, and values are spread evenly).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.core.stream_statistics import Orders, StreamStatistics


class Walked(NamedTuple):
    """A part of a walk: its partial results, by attribute their distinct values, and the cost per unit of time."""

    n: float
    values: tuple[float | None, ...]
    cost: float


@dataclass(frozen=True)
class CostModel:
    """Costs of orders of these streams.

    `buckets` says for each stream how many its hash table has: 1 is a scan, None a table by dense codes, in which every
    bucket holds the tuples of one value, so that a lookup costs one comparison and one for each partner. `interval` is
    the time between two evaluations (0: with every arrival): until the next one windows hold what has ended since.
    """

    streams: Sequence[StreamStatistics]
    buckets: Sequence[int | None]
    interval: float = 0.0

    @staticmethod
    def nested_loops(streams: Sequence[StreamStatistics], interval: float = 0.0) -> CostModel:
        """Every window is scanned."""
        return CostModel(streams, [1] * len(streams), interval)

    def global_order(self, order: Sequence[int]) -> float:
        """The cost of one order for all sources, each of which is moved to the front for its own tuples."""
        return self.local_orders([in_front(order, i) for i in range(len(self.streams))])

    def local_orders(self, orders: Orders | Sequence[Sequence[int]]) -> float:
        """The cost of an order for each source: costs of sources add up."""
        return sum(self.walk(source, order) for source, order in enumerate(orders))

    def walk(self, source: int, order: Sequence[int]) -> float:
        """The cost per unit of time of walking an order for the new tuples of a source, wherever it stands."""
        walked = self.begin(source, order[0])
        for j in order[1:]:
            walked = self.extend(walked, source, j)
        return walked.cost

    def begin(self, source: int, first: int) -> Walked:
        """A walk for the new tuples of a source that has one stream behind it; that costs nothing yet."""
        return Walked(self._size(source, first), self.streams[first].distinct, 0.0)

    def extend(self, walked: Walked, source: int, j: int) -> Walked:
        """The walk with one more stream; its cost only ever grows."""
        size = self._size(source, j)
        partners, values = size, list[float | None]()
        for ours, theirs in zip(walked.values, self.streams[j].distinct, strict=True):
            if ours is not None and theirs is not None:
                partners /= max(ours, theirs)
                values.append(min(ours, theirs))
            else:
                values.append(theirs if ours is None else ours)
        compared = walked.n * self._looked_at(j, size, partners)
        return Walked(walked.n * partners, tuple(values), walked.cost + self._evaluations(source) * compared)

    def _evaluations(self, source: int) -> float:
        """How often per unit of time new tuples of a source are walked."""
        return 1.0 / self.interval if self.interval else self.streams[source].rate

    def _size(self, source: int, j: int) -> float:
        """The tuples of a stream that are met: those of the source are the new ones."""
        stream = self.streams[j]
        if j == source:
            return stream.rate * self.interval if self.interval else 1.0
        return stream.size + stream.rate * self.interval / 2

    def _looked_at(self, j: int, size: float, partners: float) -> float:
        buckets = self.buckets[j]
        return 1.0 + partners if buckets is None else size / buckets


def in_front(order: Sequence[int], source: int) -> tuple[int, ...]:
    """The order with a stream moved to the front."""
    return (source, *(i for i in order if i != source))
