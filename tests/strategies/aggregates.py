"""User-defined aggregates for drawn plans: their results give away all that they have seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from thalweg.algebra.expressions import UserAggregate, aggregate

Pairs = dict[Any, int]


@aggregate(returns=str)
def listing(values: Sequence[Any]) -> str:
    """All values, in the order in which they are handed over; nothing for none."""
    return "|".join(map(str, values))


@aggregate(returns="BIGINT", takes=int)
def middle(values: Sequence[int]) -> int:
    """The lower median; raises over nothing."""
    return values[(len(values) - 1) // 2]


@aggregate(returns=float, takes="DOUBLE", arrays=True)
def spread(values: Any) -> Any:
    """The greatest less the least, NULL (NaN) for one value; doubles of drawn rows are exact."""
    assert isinstance(values, np.ndarray)
    return values[-1] - values[0] if len(values) > 1 else np.nan


@aggregate(returns=str)
class Copies:
    """Each value with its number of copies, kept step by step in a state that is changed in place."""

    def zero(self) -> Pairs:
        return {}

    def insert(self, state: Pairs, value: Any) -> Pairs:
        state[value] = state.get(value, 0) + 1
        return state

    def delete(self, state: Pairs, value: Any) -> Pairs:
        state[value] -= 1  # a KeyError if it never came
        if not state[value]:
            del state[value]
        return state

    def value(self, state: Pairs) -> str | None:
        return " ".join(f"{value}:{n}" for value, n in sorted(state.items())) or None


copies = cast(UserAggregate, Copies)  # to type checkers a decorated class is still a class
USER_AGGREGATES = (listing, middle, spread, copies)
