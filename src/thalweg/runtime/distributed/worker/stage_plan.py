"""The plans of stages: all that the program of a query's stage, or of a flow's only stage, is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.core.schema import Schema
from thalweg.kernel.operator import Key
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.stages import Placement
from thalweg.runtime.distributed.worker.fragment import FragmentPlan


@dataclass(frozen=True)
class SourcePort:
    """A port by which a stream or a table comes in."""

    source: str
    schema: Schema
    key: Placement
    is_first: bool  # of the source's ports: rows are counted, and go to side outputs, at the first one
    columns: tuple[int, ...] = ()  # of a stream: the columns that come
    primary_key: tuple[int, ...] | None = None  # of a table that changes
    file: str | None = None  # of a table that does not: its rows


@dataclass(frozen=True)
class SourcePorts:
    """The ports by which sources come in, in the first stage; rows for later stages wait there for their time."""

    streams: Mapping[int, SourcePort] = field(default_factory=dict)
    tables: Mapping[int, SourcePort] = field(default_factory=dict)  # changes go to the groups of their keys
    broadcast_tables: Mapping[int, SourcePort] = field(default_factory=dict)  # changes go to every shard

    @cached_property
    def all(self) -> dict[int, SourcePort]:
        """All of them."""
        return {**self.streams, **self.tables, **self.broadcast_tables}


@dataclass(frozen=True)
class StagePlan:
    """One stage of a query: its operators, and in the first stage the sources."""

    number: int
    fragment: FragmentPlan
    layouts: Layouts
    stamped: bool  # ticks are microseconds
    answer_schema: Schema
    inputs: Mapping[str, InputTime]  # by stream; in later stages none, for the first one computes the clock
    sources: SourcePorts = field(default_factory=SourcePorts)  # none in later stages


@dataclass(frozen=True)
class FlowPort:
    """A port by which a stream comes in: partitioned by its key, or with `all_tuples` in group 0."""

    source: str
    schema: Schema
    key: Key | None
    all_tuples: bool = False


@dataclass(frozen=True)
class FlowPlan:
    """The only stage of a flow: its streams, and its tables, which are broadcast to all groups.

    Queries are not part of it: they come and go by commands. A query that would need a second stage runs in the group
    that gets all tuples.
    """

    ports: tuple[FlowPort, ...]
    layouts: Layouts
    inputs: Mapping[str, InputTime]  # by stream
    stamped: bool  # ticks are microseconds
    tables: Mapping[str, str] = field(default_factory=dict)  # by table: the file with its rows when the flow began
    table_schemas: Mapping[str, Schema] = field(default_factory=dict)
    first_commands: tuple[str, ...] = ()  # given before the flow first started: obeyed before all tuples
    functions: Functions = NO_FUNCTIONS  # of users, that were registered when the flow was started
