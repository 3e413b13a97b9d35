"""The inner join of three or more inputs as one operator (GolabOzsu2003): no intermediate result is ever stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Self

from thalweg.algebra.expressions import TRUE, Expression
from thalweg.algebra.plan.base import PlanNode
from thalweg.algebra.plan.unary import check_condition
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan

FEWEST_INPUTS = 3


@dataclass(frozen=True)
class MultiJoin(PlanNode):
    """S1 |x| S2 |x| ... |x| Sn: alive while all parts are, so ts is the latest and exp the earliest of theirs.

    The condition is any expression over the columns of all inputs, in their order.
    """

    inputs: tuple[Plan, ...]
    condition: Expression

    def __post_init__(self) -> None:
        if len(self.inputs) < FEWEST_INPUTS:
            raise PlanError(
                f"a multi-way join has at least {FEWEST_INPUTS} inputs, not {len(self.inputs)}",
                hint="two inputs are a Join",
            )
        check_condition(self.condition, len(self.schema), "multi-way join")
        _ = self.clock  # all inputs must tick alike

    @cached_property
    def schema(self) -> Schema:
        """The columns of the first input, then those of the second, and so on."""
        return Schema(tuple(field for plan in self.inputs for field in plan.schema))

    @cached_property
    def children(self) -> tuple[Plan, ...]:
        """The inputs."""
        return self.inputs

    def with_children(self, *children: Plan) -> Self:
        """The same join of other inputs."""
        return replace(self, inputs=children)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each input's columns begin in the output, and behind the last one its width."""
        return (0, *accumulate(len(plan.schema) for plan in self.inputs))

    @property
    def is_stream(self) -> bool:
        """A join of streams only ever grows."""
        return all(plan.is_stream for plan in self.inputs)

    @property
    def detail(self) -> str:
        """The condition."""
        return "" if self.condition == TRUE else str(self.condition)
