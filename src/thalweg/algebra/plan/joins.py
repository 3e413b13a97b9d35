"""Joins: inner and outer, semi and anti, and the join with a non-retroactive relation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from thalweg.algebra.expressions import TRUE, Call, Expression, columns_of, conjuncts
from thalweg.algebra.plan.base import PlanNode
from thalweg.algebra.plan.leaves import RelationScan
from thalweg.algebra.plan.unary import check_condition
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


class JoinKind(Enum):
    """Which unmatched rows survive, filled up with NULLs."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"


def equalities(condition: Expression, left_width: int) -> tuple[tuple[Expression, Expression], ...]:
    """The parts of a condition that set something of the left side equal to something of the right side."""
    pairs: list[tuple[Expression, Expression]] = []
    for part in conjuncts(condition):
        if isinstance(part, Call) and part.function == "=":
            a, b = part.args
            sides = [{i < left_width for i in columns_of(e)} for e in (a, b)]
            if sides == [{True}, {False}]:
                pairs.append((a, b))
            elif sides == [{False}, {True}]:
                pairs.append((b, a))
    return tuple(pairs)


@dataclass(frozen=True)
class _Binary(PlanNode):
    """A left and a right input and a condition over the columns of both."""

    left: Plan
    right: Plan
    condition: Expression

    def __post_init__(self) -> None:
        check_condition(self.condition, len(self.left.schema) + len(self.right.schema), "join")
        _ = self.clock  # both sides must tick alike

    @cached_property
    def equalities(self) -> tuple[tuple[Expression, Expression], ...]:
        """The condition's `left expression = right expression` parts, each side over the join's own columns."""
        return equalities(self.condition, len(self.left.schema))

    @property
    def detail(self) -> str:
        """The condition."""
        return "" if self.condition == TRUE else str(self.condition)


@dataclass(frozen=True)
class Join(_Binary):
    """S1 |x| S2: ts is the later, exp the earlier of the parts' (GolabOzsu2005 §2.2)."""

    kind: JoinKind = JoinKind.INNER

    @cached_property
    def schema(self) -> Schema:
        """Left columns, then right columns."""
        return self.left.schema + self.right.schema

    @property
    def is_stream(self) -> bool:
        """An inner join of two streams only ever grows."""
        return self.kind is JoinKind.INNER and self.left.is_stream and self.right.is_stream

    @property
    def label(self) -> str:
        """The join's name with its kind."""
        return "Join" if self.kind is JoinKind.INNER else f"{self.kind.name.title()}OuterJoin"


@dataclass(frozen=True)
class SemiJoin(_Binary):
    """Left rows with at least one partner (EXISTS, IN); with `anti` those with none (NOT EXISTS, NOT IN)."""

    anti: bool = False

    @property
    def schema(self) -> Schema:
        """Left columns only."""
        return self.left.schema

    @property
    def label(self) -> str:
        """SemiJoin or AntiJoin."""
        return "AntiJoin" if self.anti else "SemiJoin"


@dataclass(frozen=True)
class NrrJoin(_Binary):
    """Each left tuple meets the NRR as it was at the tuple's ts (Definition 2); later updates change nothing.

    `right` is an NRR, possibly selected or projected. The left side is not stored.
    """

    kind: JoinKind = JoinKind.INNER

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_nrr(self.right):
            raise PlanError(f"the right side of an NRR join must be an NRR, got {self.right.label}")
        if self.kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise PlanError(
                f"a {self.kind.name} JOIN cannot keep unmatched rows of an NRR: they have no time of their own",
                hint="use JOIN or LEFT JOIN with the NRR on the right",
            )

    @cached_property
    def schema(self) -> Schema:
        """Left columns, then the NRR's."""
        return self.left.schema + self.right.schema

    @property
    def is_stream(self) -> bool:
        """As the left side (monotonic over a stream)."""
        return self.left.is_stream

    @property
    def label(self) -> str:
        """NrrJoin or LeftOuterNrrJoin."""
        return "NrrJoin" if self.kind is JoinKind.INNER else "LeftOuterNrrJoin"


def is_nrr(plan: Plan) -> bool:
    """Whether every leaf below is a non-retroactive relation."""
    leaves = [p for p in plan.walk() if not p.children]
    return all(isinstance(leaf, RelationScan) and not leaf.source.retroactive for leaf in leaves)


def is_table(plan: Plan) -> bool:
    """Whether every leaf below is a retroactive relation."""
    leaves = [p for p in plan.walk() if not p.children]
    return all(isinstance(leaf, RelationScan) and leaf.source.retroactive for leaf in leaves)
