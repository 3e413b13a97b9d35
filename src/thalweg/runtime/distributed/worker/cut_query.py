"""A query whose pipeline is cut into stages. The driver knows all of it, and gives the tasks of a stage their part."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.builder import PipelineTemplate
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.table_reader import is_partitioned
from thalweg.runtime.distributed.stages import Cut
from thalweg.runtime.distributed.worker.fragment import FragmentPlan
from thalweg.runtime.distributed.worker.program import RunSpec, StageSpec
from thalweg.runtime.distributed.worker.query_program import QueryProgram
from thalweg.runtime.distributed.worker.stage_plan import SourcePort, SourcePorts, StagePlan


@dataclass(frozen=True)
class CutQuery:
    """A query that is compiled to a `RunSpec`: its operators, where they are cut, and its sources."""

    blueprint: Blueprint
    cut: Cut
    layouts: Layouts
    inputs: dict[str, InputTime]  # by stream
    stamped: bool  # ticks are microseconds
    tables: dict[str, str]  # by relation: the file with its rows when the query began
    keys: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by relation that changes: its primary key
    needed: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by stream: the columns that come; else all do

    @cached_property
    def pipeline(self) -> PipelineTemplate:
        """The plan's operators, before they are made."""
        return self.blueprint.lower()

    @cached_property
    def run_spec(self) -> RunSpec:
        """What its tasks know."""
        numbers = range(self.cut.count)
        stages = tuple(StageSpec(number, self.layouts, self.plan_of(number), QueryProgram) for number in numbers)
        return RunSpec(self.layouts, self.stamped, stages)

    def plan_of(self, number: int) -> StagePlan:
        """One stage; the first one computes the clock and reads the sources."""
        fragment, schema = FragmentPlan.of(self.pipeline, self.cut, number), self.blueprint.plan.schema
        inputs, sources = (self.inputs, self._sources()) if number == 0 else ({}, SourcePorts())
        return StagePlan(number, fragment, self.layouts, self.stamped, schema, inputs, sources)

    def _sources(self) -> SourcePorts:
        ports = {i: self._source(i) for i, port in enumerate(self.cut.ports) if port.origin is None}
        streams = {i: port for i, port in ports.items() if port.source in self.inputs}
        tables = {i: port for i, port in ports.items() if i not in streams}
        broadcast = {
            i: port
            for i, port in tables.items()
            if port.primary_key is not None and not is_partitioned(port.key, port.primary_key)
        }
        return SourcePorts(streams, {i: port for i, port in tables.items() if i not in broadcast}, broadcast)

    def _source(self, i: int) -> SourcePort:
        port = self.cut.ports[i]
        node = self.pipeline.nodes[port.node]
        ports = enumerate(self.cut.ports)
        same = [j for j, p in ports if p.origin is None and self.pipeline.nodes[p.node].source == node.source]
        columns = self.needed.get(node.source, tuple(range(len(node.schema))))
        key, file = self.keys.get(node.source), self.tables.get(node.source)
        return SourcePort(node.source, node.schema, port.key, i == min(same), columns, key, file)
