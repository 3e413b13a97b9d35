"""One stage of a query: its operators, and in the first stage the sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from thalweg.core.schema import Schema
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
    """All that the tasks of one stage of a query know."""

    number: int
    fragment: FragmentPlan
    layouts: Layouts
    stamped: bool  # ticks are microseconds
    answer_schema: Schema
    inputs: Mapping[str, InputTime]  # by stream; in later stages none, for the first one computes the clock
    sources: SourcePorts = field(default_factory=SourcePorts)  # none in later stages
