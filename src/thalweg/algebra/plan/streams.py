"""Relation-to-stream operators of CQL, with bag counts (W8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.algebra.plan.base import PlanNode
from thalweg.core.schema import Schema

if TYPE_CHECKING:
    from thalweg.algebra.plan.nodes import Plan


@dataclass(frozen=True)
class _RelationToStream(PlanNode):
    child: Plan

    @property
    def schema(self) -> Schema:
        """The input's columns."""
        return self.child.schema

    @property
    def is_stream(self) -> bool:
        """Always: these operators turn a relation into a stream."""
        return True


@dataclass(frozen=True)
class IStream(_RelationToStream):
    """At t the rows that R(t) gains over the instant before: R(t) - R(t-1)."""


@dataclass(frozen=True)
class DStream(_RelationToStream):
    """At t the rows that R(t) lost since the instant before: R(t-1) - R(t)."""


@dataclass(frozen=True)
class RStream(_RelationToStream):
    """All of R(t), at every instant at which R changes; a row with another ts counts as another row."""
