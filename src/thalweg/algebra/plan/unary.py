"""Operators with one input: selection, projection, distinct, group-by, top-k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from thalweg.algebra.expressions import Aggregate, Expression, columns_of
from thalweg.algebra.plan.base import PlanNode
from thalweg.core.errors import PlanError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


@dataclass(frozen=True)
class Named:
    """An expression and the name its column gets."""

    expression: Expression
    name: str

    def __str__(self) -> str:
        shown = str(self.expression)
        return shown if shown == self.name else f"{shown} AS {self.name}"


@dataclass(frozen=True)
class NamedAggregate:
    """An aggregate and the name its column gets."""

    aggregate: Aggregate
    name: str

    def __str__(self) -> str:
        return str(self.aggregate)


@dataclass(frozen=True)
class SortKey:
    """One ORDER BY item. NULLs come last unless said otherwise."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = False

    def __str__(self) -> str:
        return f"{self.expression}{' DESC' * self.descending}{' NULLS FIRST' * self.nulls_first}"


@dataclass(frozen=True)
class Select(PlanNode):
    """sigma_p(S) = { s in S : p(s) is true }. Stateless; keeps its input's update pattern."""

    child: Plan
    predicate: Expression

    def __post_init__(self) -> None:
        check_condition(self.predicate, len(self.child.schema), "selection")

    @property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.child.schema

    @property
    def is_stream(self) -> bool:
        """As the input."""
        return self.child.is_stream

    @property
    def detail(self) -> str:
        """The predicate."""
        return str(self.predicate)


@dataclass(frozen=True)
class Project(PlanNode):
    """pi_L(S): one computed row per input row, duplicates kept. Stateless; keeps its input's update pattern."""

    child: Plan
    items: tuple[Named, ...]

    def __post_init__(self) -> None:
        for item in self.items:
            check_columns(item.expression, len(self.child.schema), "projection")

    @cached_property
    def schema(self) -> Schema:
        """The items' names and types."""
        return Schema(tuple(Field(i.name, i.expression.type) for i in self.items))

    @property
    def is_stream(self) -> bool:
        """As the input."""
        return self.child.is_stream

    @property
    def detail(self) -> str:
        """The items."""
        return ", ".join(map(str, self.items))


@dataclass(frozen=True)
class Distinct(PlanNode):
    """delta(S): each value once, dated by its latest appearance (PatroumpasSellis2011 §4.2)."""

    child: Plan

    @property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.child.schema


@dataclass(frozen=True)
class GroupBy(PlanNode):
    """gamma: one row per non-empty group; without keys always exactly one row."""

    child: Plan
    keys: tuple[Named, ...]
    aggregates: tuple[NamedAggregate, ...]

    def __post_init__(self) -> None:
        arguments = [a.aggregate.argument for a in self.aggregates if a.aggregate.argument is not None]
        for expression in [k.expression for k in self.keys] + arguments:
            check_columns(expression, len(self.child.schema), "group-by")

    @cached_property
    def schema(self) -> Schema:
        """Keys, then aggregates."""
        keys = tuple(Field(k.name, k.expression.type) for k in self.keys)
        return Schema(keys + tuple(Field(a.name, a.aggregate.type) for a in self.aggregates))

    @property
    def detail(self) -> str:
        """Keys and aggregates."""
        keys = ", ".join(str(k.expression) for k in self.keys) or "()"
        return f"{keys}: {', '.join(map(str, self.aggregates))}" if self.aggregates else keys


@dataclass(frozen=True)
class TopK(PlanNode):
    """The first `limit` rows by `keys`; equal keys are ordered by the whole row, so the choice is fixed."""

    child: Plan
    keys: tuple[SortKey, ...]
    limit: int

    def __post_init__(self) -> None:
        for key in self.keys:
            check_columns(key.expression, len(self.child.schema), "ORDER BY")
        if self.limit < 0:
            raise PlanError(f"LIMIT must not be negative, got {self.limit}")

    @property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.child.schema

    @property
    def detail(self) -> str:
        """Order and limit."""
        return f"{', '.join(map(str, self.keys))} LIMIT {self.limit}"


def check_columns(expression: Expression, width: int, where: str) -> None:
    """Every column the expression reads must exist."""
    beyond = [i for i in columns_of(expression) if not 0 <= i < width]
    if beyond:
        raise PlanError(f"{where} reads column {beyond[0]} of an input with {width} columns")


def check_condition(condition: Expression, width: int, where: str) -> None:
    """A condition must be a truth value over existing columns."""
    check_columns(condition, width, where)
    if condition.type is not DataType.BOOLEAN:
        raise PlanError(f"a {where} wants a BOOLEAN condition, got {condition.type}: {condition}")
