"""From statistics to a join order for each source, for the algorithms of GolabOzsu2003."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from thalweg.core.stream_statistics import Orders, StreamStatistics
from thalweg.optimizer.join_orders.cost import CostModel
from thalweg.optimizer.join_orders.search import best_global_order, best_local_order


class Algorithm(Enum):
    """When and in which order new tuples are joined with the other windows; the value is what users write."""

    NAIVE = "naive"  # one order for all sources
    EAGER = "eager"  # one order; the source of the new tuples moves to the front
    LAZY = "lazy"  # as EAGER, but evaluated at an interval
    GENERAL_LAZY = "general-lazy"  # an order for each source, which may stand anywhere in it


class Method(Enum):
    """How partners are found in a window; the value is what users write."""

    HASH = "hash"
    NESTED_LOOPS = "nested-loops"
    HYBRID = "hybrid"  # some windows have an index and come last; the others are scanned


def choose_orders(
    streams: Sequence[StreamStatistics],
    algorithm: Algorithm,
    indexed: frozenset[int],
    interval: float = 0.0,
    given: Sequence[int] | None = None,
) -> Orders:
    """The join order for each source; `given` is a global order to use instead of a search.

    Windows in `indexed` have hash tables by dense codes. Where only some have, they come last: inner loops run most
    often (section 5.4). A walk that starts with its source follows the join graph: of the global order it always takes
    the next stream that shares an attribute with those before it.
    """
    model = CostModel(streams, [None if i in indexed else 1 for i in range(len(streams))], interval)
    everyone = range(len(streams))
    if algorithm is Algorithm.GENERAL_LAZY and given is None:
        orders = tuple(best_local_order(model, i, source_first=False) for i in everyone)
        return tuple(_indexed_last(order, indexed, order[0]) for order in orders)
    order = tuple(given) if given is not None else best_global_order(model)
    if algorithm is Algorithm.NAIVE:
        first = next((i for i in order if i not in indexed), order[0])
        return (order if given is not None else _indexed_last(order, indexed, first),) * len(streams)
    return tuple(_along_graph(_indexed_last(order, indexed, i), i, streams) for i in everyone)


def _indexed_last(order: Sequence[int], indexed: frozenset[int], first: int) -> tuple[int, ...]:
    """The first stream of a walk, then streams without an index, then those with one."""
    rest = [i for i in order if i != first]
    return (first, *(i for i in rest if i not in indexed), *(i for i in rest if i in indexed))


def _along_graph(order: Sequence[int], source: int, streams: Sequence[StreamStatistics]) -> tuple[int, ...]:
    walked, rest = [source], [i for i in order if i != source]
    known = _attributes(streams[source])
    while rest:
        following = next((i for i in rest if known & _attributes(streams[i])), rest[0])
        rest.remove(following)
        walked.append(following)
        known |= _attributes(streams[following])
    return tuple(walked)


def _attributes(stream: StreamStatistics) -> frozenset[int]:
    return frozenset(a for a, v in enumerate(stream.distinct) if v is not None)
