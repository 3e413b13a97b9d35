"""A shard's program: what a task runs in one micro-batch, for a query or for a flow of many queries.

The code that runs a step (`step.py`) and Spark's tasks know programs only by this protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.report import ShardReport
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs


class AnswerPart(NamedTuple):
    """Changes of a query's answer, or of several queries' answers with equal columns, and the strings in them."""

    batch: Batch
    schema: Schema
    pool: StringPool
    queries: tuple[str, ...] = ()  # of a flow
    owners: Ints | None = None  # of a flow: for each tuple the position of its query in `queries`


class StepResult(NamedTuple):
    """Messages for the next stage, and the shard's parts of the answer's changes."""

    messages: list[Message]
    parts: list[AnswerPart]


class ShardProgram(Protocol):
    """One shard of one stage. The same messages give the same result, in any order and in any process."""

    side_outputs: SideOutputs

    def run(self, messages: Iterable[Message]) -> StepResult:
        """One micro-batch."""

    def snapshot(self) -> Tree:
        """The state that the next batch needs. Nothing that happens later changes it."""

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot."""

    def report(self) -> ShardReport:
        """Figures for people, after the last batch."""

    def is_reusable(self) -> bool:
        """Whether to restore a state into this program rather than into a new one, which costs much to make."""


P = TypeVar("P")


@dataclass(frozen=True)
class StageSpec(Generic[P]):
    """All that the tasks of one stage know. It can be sent to other processes."""

    number: int  # among the query's stages
    layouts: Layouts
    plan: P
    make: Callable[[P, int], ShardProgram]  # the program of a shard

    def program(self, shard: int) -> ShardProgram:
        """A new program for one of the stage's shards."""
        return self.make(self.plan, shard)


@dataclass(frozen=True)
class RunSpec:
    """What a query or a flow is compiled to: the stages that its tasks run, one after the other in each batch."""

    layouts: Layouts
    stamped: bool  # ticks are microseconds
    stages: tuple[StageSpec[Any], ...]

    @property
    def shards(self) -> int:
        """In how many shards the batches to come are run."""
        return self.layouts.last.shards
