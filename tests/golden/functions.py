"""Functions and aggregates of users that golden queries call. They may not change: golden files hold their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import thalweg as tw
from thalweg.algebra.codec import Functions
from thalweg.algebra.expressions import UserAggregate


@tw.function(returns=bool, takes=int)
def even(n: int) -> bool:
    return n % 2 == 0


@tw.aggregate(returns=int, takes=int)
def middle(values: Sequence[int]) -> int:
    return values[(len(values) - 1) // 2]


@tw.aggregate(returns=int, takes=int)
class Product:
    """The product of all values but zeros, kept step by step."""

    def zero(self) -> int:
        return 1

    def insert(self, state: int, value: int) -> int:
        return state * (value or 1)

    def delete(self, state: int, value: int) -> int:
        return state // (value or 1)

    def value(self, state: int) -> int:
        return state


FUNCTIONS = (even, middle, cast(UserAggregate, Product))
KNOWN = Functions.of(FUNCTIONS)
