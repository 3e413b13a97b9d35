"""What all tasks of a query know."""

from __future__ import annotations

from dataclasses import dataclass, field

from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import Node
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.ingest.clock import InputTime
from thalweg.runtime.distributed.ingest.table_reader import is_spread
from thalweg.runtime.distributed.stages import Cut


@dataclass(frozen=True)
class QuerySpec:
    """Everything about a query that its tasks need to know."""

    blueprint: Blueprint
    cut: Cut
    layouts: Layouts
    inputs: dict[str, InputTime]  # by source
    stamped: bool  # ticks are microseconds
    tables: dict[str, str]  # by relation: the file with what it held when the query began
    keys: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by relation that changes: its primary key
    needed: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by stream: the columns that come; else all do

    @property
    def stages(self) -> int:
        """How many stages there are."""
        return max(1, len(self.cut.stages))

    @property
    def shards(self) -> int:
        """In how many shards the batches to come are run."""
        return self.layouts.last.shards

    @property
    def groups(self) -> int:
        """Over how many groups keys are spread."""
        return self.layouts.groups


class Sources:
    """The ports through which streams and tables come in."""

    def __init__(self, spec: QuerySpec) -> None:
        self._spec = spec
        pipeline = spec.blueprint.build()
        nodes, self.dated = pipeline.nodes, pipeline.dated
        self.nodes: dict[int, Node] = {i: nodes[p.node] for i, p in enumerate(spec.cut.ports) if p.origin is None}
        self.streams = [i for i, node in self.nodes.items() if node.source in spec.inputs]
        tables = [i for i in self.nodes if i not in self.streams]
        self.everywhere = [i for i in tables if self._is_told_to_all(i)]  # every shard is told all changes of these
        self.tables = [i for i in tables if i not in self.everywhere]
        self.spread = {*self.streams, *self.tables}

    def is_first(self, port: int) -> bool:
        """A source that comes in by several ports has its late tuples counted at the first."""
        name = self.nodes[port].source
        return port == min(i for i, node in self.nodes.items() if node.source == name)

    def _is_told_to_all(self, port: int) -> bool:
        source = self.nodes[port].source
        return source in self._spec.keys and not is_spread(self._spec.cut.ports[port].key, self._spec.keys[source])
