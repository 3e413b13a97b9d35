"""Statistics of the inputs of a multi-way join, from which a join order is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# For each input with new tuples: the order in which the join visits all inputs, itself included.
Orders = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class StreamStatistics:
    """GolabOzsu2003, Table 1: arrivals per unit of time, tuples in the window, and by attribute its distinct values.

    None stands for an attribute that the stream lacks.
    """

    rate: float
    size: float
    distinct: tuple[float | None, ...]


# Orders, given the statistics of all inputs.
ChooseOrders = Callable[[Sequence[StreamStatistics]], Orders]
