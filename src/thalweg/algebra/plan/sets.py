"""Bag operations of two inputs with equal schemas. Set forms are these over Distinct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.algebra.plan.base import PlanNode
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


@dataclass(frozen=True)
class _SetOperation(PlanNode):
    left: Plan
    right: Plan

    def __post_init__(self) -> None:
        if self.left.schema.types != self.right.schema.types:
            raise PlanError(
                f"{self.label} needs the same column types on both sides, got {self.left.schema} and "
                f"{self.right.schema}"
            )
        _ = self.clock  # both sides must tick alike

    @property
    def schema(self) -> Schema:
        """The left side's columns."""
        return self.left.schema


@dataclass(frozen=True)
class Union(_SetOperation):
    """Merge-union: n + m copies of a row (UNION ALL)."""

    @property
    def is_stream(self) -> bool:
        """The union of streams is one."""
        return self.left.is_stream and self.right.is_stream


@dataclass(frozen=True)
class Intersect(_SetOperation):
    """min(n, m) copies of a row (INTERSECT ALL); the copies kept are the left ones that expire last."""


@dataclass(frozen=True)
class Negation(PlanNode):
    """max(0, n - m) left rows per value of the `on` columns (equation 1 of GolabOzsu2005), payload from the left.

    `on` pairs left with right positions; all columns make it EXCEPT ALL. NULLs are one value. Which rows stay: those
    that expire first, then the oldest, then by value. That choice depends on the contents alone. With it, an expiring
    left row is always part of the answer, so only right arrivals delete early.
    """

    left: Plan
    right: Plan
    on: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not self.on:
            raise PlanError("a negation needs at least one column to compare")
        _ = self.clock  # both sides must tick alike
        for i, j in self.on:
            if self.left.schema[i].type is not self.right.schema[j].type:
                raise PlanError(
                    f"EXCEPT ALL ON compares {self.left.schema[i]} with {self.right.schema[j]}: the types differ"
                )

    @property
    def schema(self) -> Schema:
        """The left side's columns."""
        return self.left.schema

    @property
    def detail(self) -> str:
        """The compared columns; nothing for whole rows."""
        if self.compares_rows:
            return "all columns"
        return ", ".join(self.left.schema[i].name for i, _ in self.on)

    @property
    def compares_rows(self) -> bool:
        """Whether this is EXCEPT ALL on whole rows."""
        width = len(self.left.schema)
        return self.on == tuple((i, i) for i in range(width)) and len(self.right.schema) == width
