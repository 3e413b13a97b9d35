"""From changes to whole answers, and the order in which to show a bag's rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import Plan, TopK
from thalweg.core.rows import sorted_rows
from thalweg.runtime.local import LocalQuery
from thalweg.runtime.local.replay import Step

ShownRow = tuple[Any, ...]


class Answer(NamedTuple):
    """All rows of a query's answer at `t`; t is None where nothing said what time it is."""

    query: LocalQuery
    t: Any
    rows: list[ShownRow]


def answers(steps: Iterable[Step]) -> Iterator[Answer]:
    """The answer after each instant at which it changed."""
    bags: defaultdict[LocalQuery, Counter[ShownRow]] = defaultdict(Counter)
    for query, changes in steps:
        bag = bags[query]
        for t, group in groupby(changes, key=lambda change: change[0]):
            for _, sign, row in group:
                bag[row] += sign
                if not bag[row]:
                    del bag[row]
            yield Answer(query, t, answer_order(query.plan, bag.elements()))


def answer_order(plan: Plan, rows: Iterable[ShownRow]) -> list[ShownRow]:
    """By the query's ORDER BY as far as the answer's own columns tell, then by the whole row."""
    ordered: list[ShownRow] = list(sorted_rows(rows))
    keys = plan.keys if isinstance(plan, TopK) else ()
    for key in reversed(keys):  # sorting is stable, so the last key sorted by counts most
        if isinstance(key.expression, Column):
            i = key.expression.index
            nulls = [row for row in ordered if row[i] is None]
            others = [row for row in ordered if row[i] is not None]
            others.sort(key=lambda row: row[i], reverse=key.descending)
            ordered = nulls + others if key.nulls_first else others + nulls
    return ordered
