"""What queries that share operators cost: the share of each, and the cost that each would have alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from thalweg.core.batch import Batch
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.pipeline import Node, name_of
from thalweg.kernel.windows.logical import LogicalWindowing


class Usage(NamedTuple):
    """Work is counted in tuples that operators receive, which is the same in every run, unlike time."""

    seen: int = 0  # tuples of streams and tables
    alone: int = 0  # the work of all operators that the query needs
    part: float = 0.0  # the same, but the work of a shared operator is divided by the number of its queries
    seconds: float = 0.0  # time spent, divided likewise; since the process began, as snapshots do not hold it

    def __add__(self, other: object) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        seconds = self.seconds + other.seconds
        return Usage(self.seen + other.seen, self.alone + other.alone, self.part + other.part, seconds)

    def __sub__(self, other: Usage) -> Usage:
        seconds = self.seconds - other.seconds
        return Usage(self.seen - other.seen, self.alone - other.alone, self.part - other.part, seconds)

    @property
    def saved(self) -> float:
        """The share of the work alone that sharing has saved."""
        return 1 - self.part / self.alone if self.alone else 0.0


@dataclass
class Running:
    """A running node with its number of queries; `usage` is its cost for each of them since the node was added."""

    node: Node
    nothing: Batch
    users: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        """The operator's name, or the source's."""
        return name_of(self.node)

    def process(self, inputs: list[Batch], now: Instant) -> Batch:
        """The node's changes; a node without state is not called without input."""
        operator = self.node.operator
        assert operator is not None
        if not any(map(len, inputs)) and (
            not operator.KEPT or (isinstance(operator, LogicalWindowing) and not operator.stored)
        ):
            return self.nothing
        return operator.process(inputs, now)

    def count(self, seen: int, work: int, seconds: float) -> None:
        """One more batch."""
        users = max(1, self.users)
        self.usage += Usage(seen, work, work / users, seconds / users)
