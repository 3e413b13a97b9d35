"""Searching for cheap orders: all of them while the streams are few, else the paper's heuristic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from thalweg.core.stream_statistics import StreamStatistics
from thalweg.optimizer.join_orders.cost import CostModel, Walked, in_front

EXHAUSTIVE = 6  # streams, of whose 720 orders most are given up early

Order = tuple[int, ...]
Cost = Callable[[Order], float]
Walks = tuple[Walked, ...]


class _Best(NamedTuple):
    """The cheapest order so far."""

    order: Order
    cost: float


def best_global_order(model: CostModel) -> Order:
    """One order for all sources; of equally cheap ones that of the heuristic."""
    found = heuristic_order(model.streams, model.global_order)
    everyone = range(len(model.streams))
    if len(everyone) > EXHAUSTIVE:
        return found

    def extend(walks: Walks, j: int) -> Walks:
        return tuple(walk if i == j else model.extend(walk, i, j) for i, walk in enumerate(walks))

    begun = tuple(model.begin(i, i) for i in everyone)
    return _search((), begun, extend, _Best(found, model.global_order(found))).order


def best_local_order(model: CostModel, source: int, source_first: bool) -> Order:
    """An order for the new tuples of one source; independent of those of the others (section 5.2)."""

    def cost(order: Order) -> float:
        return model.walk(source, order)

    found = in_front(heuristic_order(model.streams, lambda order: cost(in_front(order, source))), source)
    if not source_first:
        found = _moved(found, source, cost)
    if len(model.streams) > EXHAUSTIVE:
        return found

    def extend(walks: Walks, j: int) -> Walks:
        return (model.extend(walks[0], source, j),)

    best = _Best(found, cost(found))
    for first in [source] if source_first else range(len(model.streams)):
        best = _search((first,), (model.begin(source, first),), extend, best)
    return best.order


def _search(order: Order, walks: Walks, extend: Callable[[Walks, int], Walks], best: _Best) -> _Best:
    """The best order that begins like this one, unless the best so far is as good; cheap beginnings are tried first."""
    rest = [i for i in range(len(best.order)) if i not in order]
    if not rest:
        return _Best(order, sum(walk.cost for walk in walks))
    ways = [(i, extend(walks, i)) for i in rest]
    for i, longer in sorted(ways, key=lambda way: sum(walk.cost for walk in way[1])):
        if sum(walk.cost for walk in longer) < best.cost:
            best = _search((*order, i), longer, extend, best)
    return best


def heuristic_order(streams: Sequence[StreamStatistics], cost: Cost) -> Order:
    """Section 5.1: by ascending size of the joins, then fast streams are moved up as long as that is cheaper.

    Streams are fast if they are faster than the average. The number of orders looked at is of the order of n^2.
    """
    order = _cheapest(_by_selectivity(streams), cost)
    mean = sum(stream.rate for stream in streams) / len(streams)
    fast = sorted((i for i in order if streams[i].rate > mean), key=lambda i: -streams[i].rate)
    improved = True
    while improved:
        improved = False
        for stream in fast:
            better = _cheapest([order, *_ways_up(order, stream)], cost)
            improved |= better != order
            order = better
    return order


def _by_selectivity(streams: Sequence[StreamStatistics]) -> Iterator[Order]:
    """The pair with the smallest join, either way round, then always the stream that makes the smallest result."""
    inputs = range(len(streams))
    pairs = [(i, j) for i in inputs for j in inputs if i != j]
    smallest = min(_joined(streams, pair) for pair in pairs)
    for pair in pairs:
        if _joined(streams, pair) > smallest:
            continue
        order: Order = pair
        while len(order) < len(streams):
            rest = [i for i in inputs if i not in order]
            order = (*order, min(rest, key=lambda i: _joined(streams, (*order, i))))
        yield order


def _joined(streams: Sequence[StreamStatistics], order: Sequence[int]) -> float:
    """The size of the join of some streams."""
    size, values = 1.0, dict[int, float]()
    for i in order:
        size *= streams[i].size
        for attribute, v in enumerate(streams[i].distinct):
            if v is not None:
                size /= max(v, values[attribute]) if attribute in values else 1.0
                values[attribute] = min(v, values.get(attribute, v))
    return size


def _ways_up(order: Order, stream: int) -> Iterator[Order]:
    place, rest = order.index(stream), tuple(i for i in order if i != stream)
    for higher in range(place):
        yield (*rest[:higher], stream, *rest[higher:])


def _moved(order: Order, stream: int, cost: Cost) -> Order:
    """The order with a stream in its cheapest place."""
    rest = tuple(i for i in order if i != stream)
    return _cheapest([order, *((*rest[:p], stream, *rest[p:]) for p in range(1, len(order)))], cost)


def _cheapest(orders: Iterator[Order] | Sequence[Order], cost: Cost) -> Order:
    return min(orders, key=cost)
