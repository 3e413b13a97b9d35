"""Small pieces of SQL text that every operator's rendering uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from thalweg.algebra.expressions import Expression
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.plan import Plan


class Renderer(Protocol):
    """The methods that the rendering of an operator calls."""

    @property
    def dialect(self) -> Dialect:
        """The SQL to write."""

    def leaf(self, plan: Plan, /) -> str:
        """The table of a leaf."""

    def scalar(self, expression: Expression, column: Callable[[int], str] = ..., /) -> str:
        """An expression as SQL."""

    def sql(self, plan: Plan, dated: bool, /) -> str:
        """A subquery as SQL."""


def columns(plan: Plan, table: str = "") -> list[str]:
    """c0, c1, ... of a plan, each with the table's name in front if there is one."""
    prefix = f"{table}." if table else ""
    return [f"{prefix}c{i}" for i in range(len(plan.schema))]


def dates(dated: bool, table: str = "") -> list[str]:
    """The two date columns, if wanted."""
    prefix = f"{table}." if table else ""
    return [f"{prefix}ts_", f"{prefix}exp_"] if dated else []


def select_list(plan: Plan, dated: bool, table: str = "") -> str:
    """All of a plan's columns, and its dates if wanted."""
    return ", ".join(columns(plan, table) + dates(dated, table))


def pair_column(left_width: int) -> Callable[[int], str]:
    """Names the columns of a join's condition: those of table l, then those of table r."""
    return lambda i: f"l.c{i}" if i < left_width else f"r.c{i - left_width}"
