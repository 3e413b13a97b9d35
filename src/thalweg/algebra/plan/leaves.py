"""Leaves: streams, relations; and the window that turns a stream into a relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.plan.base import PlanNode
from thalweg.algebra.windows import Window
from thalweg.core.errors import WindowError
from thalweg.core.schema import Schema
from thalweg.core.time import Clock

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


@dataclass(frozen=True)
class StreamScan(PlanNode):
    """S(t): every tuple of the stream with ts <= t. Monotonic."""

    source: Stream

    @property
    def schema(self) -> Schema:
        """The stream's columns."""
        return self.source.schema

    @property
    def is_stream(self) -> bool:
        """A stream is one."""
        return True

    @property
    def clock(self) -> Clock:
        """The stream's clock."""
        return self.source.clock

    @property
    def detail(self) -> str:
        """Its name."""
        return self.source.name


@dataclass(frozen=True)
class RelationScan(PlanNode):
    """R(t): the relation after all updates up to and at t. For an NRR, t is the ts of the tuple that meets it."""

    source: Relation

    @property
    def schema(self) -> Schema:
        """The relation's columns."""
        return self.source.schema

    @property
    def label(self) -> str:
        """RelationScan or NrrScan."""
        return "RelationScan" if self.source.retroactive else "NrrScan"

    @property
    def detail(self) -> str:
        """Its name."""
        return self.source.name


@dataclass(frozen=True)
class Windowed(PlanNode):
    """W(S(t)): the part of a stream that its window shows at t."""

    child: Plan
    window: Window

    def __post_init__(self) -> None:
        if not self.child.is_stream:
            raise WindowError(
                f"a window needs a stream, but {self.child.label} gives a relation",
                hint="put the window on the stream inside, or wrap the query in ISTREAM(...)",
            )

    @property
    def schema(self) -> Schema:
        """The stream's columns."""
        return self.child.schema

    @property
    def label(self) -> str:
        """Window."""
        return "Window"

    @property
    def detail(self) -> str:
        """The window in CQL."""
        return self.window.cql(self.schema.names, self.clock or Clock.TICKS)
