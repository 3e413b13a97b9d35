"""The order in which to show a bag's rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import Plan, TopK
from thalweg.core.rows import sorted_rows

ShownRow = tuple[Any, ...]


def answer_order(plan: Plan, rows: Iterable[ShownRow]) -> list[ShownRow]:
    """By the query's ORDER BY as far as the answer has its columns, then by the whole row."""
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
