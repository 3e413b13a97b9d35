"""Choices made one by one. Building a strategy object per choice would cost more than the tests themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

Thing = TypeVar("Thing")


_integers = cache(st.integers)


class Dice:
    """A source of choices that Hypothesis replays and shrinks; what is named first is what remains."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def number(self, least: int, most: int) -> int:
        """An integer between two, both included."""
        return self._draw(_integers(least, most))

    def pick(self, options: Sequence[Thing]) -> Thing:
        """One of several."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, one_in: int) -> bool:
        """True about once in so many times."""
        return self.number(1, one_in) == one_in

    def several(self, least: int, most: int, make: Callable[[], Thing]) -> list[Thing]:
        """Between `least` and `most` things."""
        return [make() for _ in range(self.number(least, most))]
