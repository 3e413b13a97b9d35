"""A rewrite rule: a function of one node, and what people are told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thalweg.algebra.plan import Plan


@dataclass(frozen=True)
class Rule:
    """An equation read from left to right; None where it does not apply.

    A rule that `keeps_dates` gives the same rows with the same ts and exp at every instant, so it may be applied
    anywhere. One that does not is left alone where something above looks at dates.
    """

    name: str
    apply: Callable[[Plan], Plan | None]
    text: str
    keeps_dates: bool = True
