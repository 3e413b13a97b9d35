"""The base of all logical operators: children, a schema, a clock, and whether the output is a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema
from thalweg.core.time import Clock

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


@dataclass(frozen=True)
class PlanNode(ABC):
    """A logical operator with its inputs: frozen, compared by structure, validated when built.

    Every subclass is a member of the union `Plan`, which signatures use.
    """

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns of the output."""

    @property
    def is_stream(self) -> bool:
        """Whether the output is append-only and dated by arrival, so that a window may be put on it."""
        return False

    @cached_property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, left to right: the fields that are plans."""
        values = (getattr(self, f.name) for f in fields(self))
        return cast("tuple[Plan, ...]", tuple(v for v in values if isinstance(v, PlanNode)))

    @cached_property
    def clock(self) -> Clock | None:
        """The clock of the streams below; None if there are only relations."""
        clocks = {c.clock for c in self.children} - {None}
        if len(clocks) > 1:
            raise PlanError(
                "a query cannot mix streams that tick with streams that have timestamps",
                hint="declare both with TIMESTAMP BY, or neither",
            )
        return clocks.pop() if clocks else None

    def __getstate__(self) -> dict[str, object]:
        """Pickle without cached properties, so that equal plans have equal bytes."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def with_children(self, *children: Plan) -> Self:
        """The same operator over other inputs."""
        names = [f.name for f in fields(self) if isinstance(getattr(self, f.name), PlanNode)]
        return replace(self, **dict(zip(names, children, strict=True)))

    @property
    def label(self) -> str:
        """The operator's name in EXPLAIN and errors."""
        return type(self).__name__

    @property
    def detail(self) -> str:
        """The operator's parameters, for EXPLAIN."""
        return ""

    def walk(self) -> Iterator[Plan]:
        """This node and all below it, depth first."""
        yield cast("Plan", self)
        for child in self.children:
            yield from child.walk()


def drawn(plan: Plan, depth: int = 1) -> str:
    """The operators as text, one below the other."""
    line = f"{'  ' * depth}{plan.label} {plan.detail}".rstrip()
    return "\n".join([line, *(drawn(child, depth + 1) for child in plan.children)])
