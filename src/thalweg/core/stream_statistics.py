"""What is known of an input of a multi-way join: all that a join order is chosen by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# For each source of new tuples the order in which all inputs, the source among them, are walked.
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
