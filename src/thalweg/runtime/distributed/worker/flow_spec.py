"""What the tasks of a flow know; they learn of its queries from commands."""

from __future__ import annotations

from dataclasses import dataclass, field

from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.core.schema import Schema
from thalweg.kernel.operator import Key
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime


@dataclass(frozen=True)
class FlowPort:
    """A port by which a stream comes in: partitioned by its key, or with `all_tuples` in group 0."""

    source: str
    schema: Schema
    key: Key | None
    all_tuples: bool = False


@dataclass(frozen=True)
class FlowSpec:
    """A flow as it is to run: its streams, and its tables, which are broadcast to all groups."""

    ports: tuple[FlowPort, ...]
    layouts: Layouts
    inputs: dict[str, InputTime]  # by stream
    stamped: bool  # ticks are microseconds
    tables: dict[str, str] = field(default_factory=dict)  # by table: the file with its rows when the flow began
    table_schemas: dict[str, Schema] = field(default_factory=dict)
    first_commands: tuple[str, ...] = ()  # given before the flow first started: obeyed before all tuples
    functions: Functions = NO_FUNCTIONS  # of users, that were registered when the flow was started

    @property
    def stages(self) -> int:
        """A query that needs more than one stage runs in the group that gets all tuples."""
        return 1

    @property
    def shards(self) -> int:
        """In how many shards the batches to come are run."""
        return self.layouts.last.shards
