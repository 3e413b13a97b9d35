"""From changes to whole answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from thalweg.algebra.answer_order import ShownRow, answer_order
from thalweg.runtime.local.replay import ReplayedQuery, ReplayStep


class Answer(NamedTuple):
    """All rows of a query's answer at `t`; `t` is None if the query's clock has not started."""

    query: ReplayedQuery
    t: Any
    rows: list[ShownRow]


def answers(steps: Iterable[ReplayStep]) -> Iterator[Answer]:
    """The answer after each instant at which it changed."""
    bags: defaultdict[ReplayedQuery, Counter[ShownRow]] = defaultdict(Counter)
    for query, changes in steps:
        bag = bags[query]
        for t, group in groupby(changes, key=lambda change: change[0]):
            for _, sign, row in group:
                bag[row] += sign
                if not bag[row]:
                    del bag[row]
            yield Answer(query, t, answer_order(query.plan, bag.elements()))
