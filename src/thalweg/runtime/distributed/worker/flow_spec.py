"""What all tasks of a flow know."""

from __future__ import annotations

from dataclasses import dataclass, field

from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.core.schema import Schema
from thalweg.kernel.operator import Key
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime


@dataclass(frozen=True)
class FlowPort:
    """A way in: a stream spread by its key over all groups, or as a whole in group 0; a table is copied everywhere."""

    source: str
    schema: Schema
    key: Key | None
    whole: bool = False


@dataclass(frozen=True)
class FlowSpec:
    """Everything about a flow that its tasks need to know; its queries they learn from commands."""

    ports: tuple[FlowPort, ...]
    layouts: Layouts
    inputs: dict[str, InputTime]  # by stream
    stamped: bool
    tables: dict[str, str] = field(default_factory=dict)  # by table: the file with what it held when the flow began
    table_schemas: dict[str, Schema] = field(default_factory=dict)
    begin: tuple[str, ...] = ()  # commands that were given before the flow first started: obeyed before all tuples
    functions: Functions = NO_FUNCTIONS  # of users, that were registered when the flow was started
    stages: int = 1

    @property
    def shards(self) -> int:
        """In how many shards the batches to come are run."""
        return self.layouts.last.shards

    @property
    def groups(self) -> int:
        """Over how many groups keys are spread."""
        return self.layouts.groups
