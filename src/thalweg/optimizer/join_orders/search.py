"""The search for a cheap join order: over all orders if there are few streams, else by the paper's heuristic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from thalweg.core.stream_statistics import StreamStatistics
from thalweg.optimizer.join_orders.cost import CostModel, PartialWalk, in_front

SEARCH_ALL_UP_TO = 6  # streams; of their 720 orders most are abandoned early

Order = tuple[int, ...]
Cost = Callable[[Order], float]
Walks = tuple[PartialWalk, ...]


class _Best(NamedTuple):
    """The cheapest order so far."""

    order: Order
    cost: float


def best_global_order(model: CostModel) -> Order:
    """The cheapest order for all sources; among equally cheap ones, that of the heuristic."""
    found = heuristic_order(model.streams, model.global_order)
    everyone = range(len(model.streams))
    if len(everyone) > SEARCH_ALL_UP_TO:
        return found

    def extend(walks: Walks, j: int) -> Walks:
        return tuple(walk if i == j else model.extend(walk, i, j) for i, walk in enumerate(walks))

    begun = tuple(model.begin(i, i) for i in everyone)
    return _search((), begun, extend, _Best(found, model.global_order(found))).order


def best_local_order(model: CostModel, source: int, source_first: bool) -> Order:
    """The cheapest order for the new tuples of one source, which does not depend on other sources (section 5.2)."""

    def cost(order: Order) -> float:
        return model.walk(source, order)

    found = in_front(heuristic_order(model.streams, lambda order: cost(in_front(order, source))), source)
    if not source_first:
        found = _moved(found, source, cost)
    if len(model.streams) > SEARCH_ALL_UP_TO:
        return found

    def extend(walks: Walks, j: int) -> Walks:
        return (model.extend(walks[0], source, j),)

    best = _Best(found, cost(found))
    for first in [source] if source_first else range(len(model.streams)):
        best = _search((first,), (model.begin(source, first),), extend, best)
    return best.order


def _search(order: Order, walks: Walks, extend: Callable[[Walks, int], Walks], best: _Best) -> _Best:
    """The cheapest order that starts with `order`, or `best` if none is cheaper; tries cheap continuations first."""
    rest = [i for i in range(len(best.order)) if i not in order]
    if not rest:
        return _Best(order, sum(walk.cost for walk in walks))
    continuations = [(i, extend(walks, i)) for i in rest]
    for i, longer in sorted(continuations, key=lambda each: sum(walk.cost for walk in each[1])):
        if sum(walk.cost for walk in longer) < best.cost:
            best = _search((*order, i), longer, extend, best)
    return best


def heuristic_order(streams: Sequence[StreamStatistics], cost: Cost) -> Order:
    """Section 5.1: order by ascending size of the joins, then move fast streams up as long as that is cheaper.

    A stream is fast if its rate is above the average. The heuristic computes the costs of about n^2 orders.
    """
    order = _cheapest(_by_selectivity(streams), cost)
    mean = sum(stream.rate for stream in streams) / len(streams)
    fast = sorted((i for i in order if streams[i].rate > mean), key=lambda i: -streams[i].rate)
    improved = True
    while improved:
        improved = False
        for stream in fast:
            better = _cheapest([order, *_moved_up(order, stream)], cost)
            improved |= better != order
            order = better
    return order


def _by_selectivity(streams: Sequence[StreamStatistics]) -> Iterator[Order]:
    """Orders that start with a pair of the smallest join, and continue with the stream of the smallest result."""
    inputs = range(len(streams))
    pairs = [(i, j) for i in inputs for j in inputs if i != j]
    smallest = min(_join_size(streams, pair) for pair in pairs)
    for pair in pairs:
        if _join_size(streams, pair) > smallest:
            continue
        order: Order = pair
        while len(order) < len(streams):
            rest = [i for i in inputs if i not in order]
            order = (*order, min(rest, key=lambda i: _join_size(streams, (*order, i))))
        yield order


def _join_size(streams: Sequence[StreamStatistics], order: Sequence[int]) -> float:
    """The size of the join of some streams."""
    size, values = 1.0, dict[int, float]()
    for i in order:
        size *= streams[i].size
        for attribute, v in enumerate(streams[i].distinct):
            if v is not None:
                size /= max(v, values[attribute]) if attribute in values else 1.0
                values[attribute] = min(v, values.get(attribute, v))
    return size


def _moved_up(order: Order, stream: int) -> Iterator[Order]:
    place, rest = order.index(stream), tuple(i for i in order if i != stream)
    for higher in range(place):
        yield (*rest[:higher], stream, *rest[higher:])


def _moved(order: Order, stream: int, cost: Cost) -> Order:
    """The order with one stream moved to its cheapest position."""
    rest = tuple(i for i in order if i != stream)
    return _cheapest([order, *((*rest[:p], stream, *rest[p:]) for p in range(1, len(order)))], cost)


def _cheapest(orders: Iterator[Order] | Sequence[Order], cost: Cost) -> Order:
    return min(orders, key=cost)
