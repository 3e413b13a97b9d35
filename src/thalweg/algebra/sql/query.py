"""The one-time query of a plan: nested subqueries whose columns are c0, c1, ... by position.

A subquery can be rendered *dated*: it then has two more columns, `ts_` and `exp_`, by the rules of docs/semantics.md,
"Operators and dates". Only operators whose rows depend on dates ask for that: a negation on some columns, an NRR join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from thalweg.algebra.expressions import Expression, columns_of
from thalweg.algebra.expressions.render import Dialect, render
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    Join,
    MultiJoin,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RelationScan,
    RStream,
    Select,
    SemiJoin,
    SortKey,
    StreamScan,
    TopK,
    Union,
    Windowed,
)
from thalweg.algebra.sql.groups import distinct_sql, group_sql, intersect_sql, negation_sql
from thalweg.algebra.sql.joins import join_sql, multi_join_sql, nrr_join_sql, semi_join_sql
from thalweg.algebra.sql.text import columns, dates, select_list
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING, FOREVER

Leaf = Callable[[Plan], str]


def one_time_sql(plan: Plan, dialect: Dialect, leaf: Leaf, *, dated: bool = False) -> str:
    """The query that, run over the leaves' contents at t, returns Q(t).

    `leaf(node)` names a table (or is a subquery in parentheses) with the contents of a window, a stream or a relation
    at t. It has the columns c0, c1, ...; that of a window or stream also has `ts_` and `exp_`; that of an NRR holds
    its whole past, each row valid during [`from_`, `to_`).
    """
    return OneTime(dialect, leaf).sql(plan, dated)


@dataclass(frozen=True)
class OneTime:
    """The rendering of plans in one dialect over given leaves."""

    dialect: Dialect
    leaf: Leaf

    def scalar(self, expression: Expression, column: Callable[[int], str] = "c{}".format) -> str:
        """An expression over columns that `column` names."""
        return render(expression, self.dialect, column)

    def sql(self, plan: Plan, dated: bool) -> str:
        """A SELECT with the plan's columns by position, and its dates if asked for."""
        match plan:
            case StreamScan() | Windowed():
                return f"SELECT {select_list(plan, dated)} FROM {self.leaf(plan)} AS w"
            case RelationScan():
                always = [f"{BEGINNING} AS ts_", f"{FOREVER} AS exp_"] if dated else []
                return f"SELECT {', '.join(columns(plan) + always)} FROM {self.leaf(plan)} AS w"
            case Select(child, predicate):
                return f"SELECT * FROM ({self.sql(child, dated)}) AS w WHERE {self.scalar(predicate)}"
            case Project(child, items):
                shown = [f"{self.scalar(item.expression)} AS c{i}" for i, item in enumerate(items)]
                return f"SELECT {', '.join(shown + dates(dated))} FROM ({self.sql(child, dated)}) AS w"
            case Union(left, right):
                return f"({self.sql(left, dated)}) UNION ALL ({self.sql(right, dated)})"
            case Join():
                return join_sql(self, plan, dated)
            case MultiJoin():
                return multi_join_sql(self, plan, dated)
            case NrrJoin():
                return nrr_join_sql(self, plan, dated)
            case SemiJoin():
                return semi_join_sql(self, plan, dated)
            case Distinct():
                return distinct_sql(self, plan, dated)
            case GroupBy():
                return group_sql(self, plan, dated)
            case Negation():
                return negation_sql(self, plan, dated)
            case Intersect():
                return intersect_sql(self, plan, dated)
            case TopK(child, keys, limit):
                # A constant orders nothing, and an integer would be read as a position.
                order = [self._sort_key(key) for key in keys if columns_of(key.expression)]
                order += [f"{c} NULLS LAST" for c in columns(plan)] + (["exp_", "ts_"] if dated else [])
                return f"SELECT * FROM ({self.sql(child, dated)}) AS w ORDER BY {', '.join(order)} LIMIT {limit}"
            case IStream() | DStream() | RStream():
                raise PlanError(
                    f"{plan.label.upper()} has no one-time form: what it has emitted depends on the past",
                    hint="render the query inside it",
                )
            case _:
                assert_never(plan)

    def _sort_key(self, key: SortKey) -> str:
        direction = "DESC" if key.descending else "ASC"
        return f"{self.scalar(key.expression)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
