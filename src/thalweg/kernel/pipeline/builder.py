"""A pipeline under construction: operators are added one by one, and known by their place.

Nothing is made yet: the templates can be sent to other processes, where any of them become operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from thalweg.algebra.expressions import column
from thalweg.algebra.plan import Named, Plan
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.operator import Operator
from thalweg.kernel.operators import distinct, project, union
from thalweg.kernel.operators.delta_star import DeltaStar
from thalweg.kernel.operators.negate import Negate
from thalweg.kernel.pipeline.buffers import BufferSettings
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.pipeline import Node, Pipeline

Places = MutableMapping[Plan, int]  # where the results of plans are produced
MakeOperator = Callable[[StringPool], Operator]


@dataclass(frozen=True)
class NodeTemplate:
    """How a `Node` is made, for any string pool; without `make` it is a source."""

    schema: Schema
    make: MakeOperator | None
    inputs: tuple[int, ...] = ()
    source: str = ""
    tells_changes: bool = False
    wakes: bool = False
    announces: bool = False

    def node(self, pool: StringPool) -> Node:
        """A new node, with an operator that has seen nothing."""
        operator = None if self.make is None else self.make(pool)
        return Node(self.schema, operator, self.inputs, self.source, self.tells_changes, self.wakes, self.announces)


@dataclass(frozen=True)
class PipelineTemplate:
    """How the pipeline of a plan is made; the last node gives the answer."""

    nodes: tuple[NodeTemplate, ...]
    dated: bool
    identity: Identity
    places: Mapping[Plan, int] = field(default_factory=dict)  # by sub-plan, the node that gives its results

    def build(self, pool: StringPool | None = None) -> Pipeline:
        """A new pipeline."""
        pool = StringPool() if pool is None else pool
        pipeline = Pipeline([node.node(pool) for node in self.nodes], pool, self.dated, self.identity)
        pipeline.places = self.places
        return pipeline


class Stages:
    """The nodes so far, and the small operators that larger ones are composed of."""

    def __init__(self, dated: bool, settings: BufferSettings) -> None:
        self.dated, self.settings = dated, settings
        self.nodes: dict[int, NodeTemplate] = {}  # by place: what a node depends on stands before it
        self._places = count()

    def template(self, identity: Identity, places: Mapping[Plan, int]) -> PipelineTemplate:
        """All nodes so far; the last one gives the answer."""
        return PipelineTemplate(tuple(self.nodes.values()), self.dated, identity, places)

    def schema(self, place: int) -> Schema:
        """The columns of a node's output."""
        return self.nodes[place].schema

    def add(
        self, schema: Schema, make: MakeOperator, *inputs: int, tells_changes: bool = False, wakes: bool = False
    ) -> int:
        """An operator over the outputs at some places.

        `make` should refer to no more than it needs: what it refers to is sent to other processes with it.
        """
        return self._put(NodeTemplate(schema, make, inputs, tells_changes=tells_changes, wakes=wakes))

    def announce(self, place: int) -> None:
        """Time-messages about the ends of a node's tuples begin there."""
        self.nodes[place] = replace(self.nodes[place], announces=True)

    def source(self, schema: Schema, name: str) -> int:
        """A stream or table that is fed from outside."""
        return self._put(NodeTemplate(schema, None, source=name))

    def _put(self, node: NodeTemplate) -> int:
        place = next(self._places)
        self.nodes[place] = node
        return place

    def project(self, place: int, expressions: Sequence[Named]) -> int:
        """Computed columns."""
        output = Schema(tuple(Field(e.name, e.expression.type) for e in expressions))
        schema, items = self.schema(place), [e.expression for e in expressions]
        return self.add(output, lambda pool: project.Project(schema, items, pool), place)

    def union(self, *places: int) -> int:
        """All together."""
        return self.add(self.schema(places[0]), lambda _: union.Union(), *places)

    def minus(self, place: int, part: int) -> int:
        """A bag less a part of it."""
        return self.union(place, self.add(self.schema(part), lambda _: Negate(), part))

    def distinct(self, place: int, direct: bool) -> int:
        """Each row once: delta* where the input has no negative tuples and nobody asks for dates."""
        schema, dated = self.schema(place), self.dated
        if direct and not dated:
            return self.add(schema, lambda _: DeltaStar(schema), place)
        return self.add(schema, lambda _: distinct.Distinct(schema, dated), place)


def columns(schema: Schema) -> list[Named]:
    """All columns under their names."""
    return [Named(column(schema, i), f.name) for i, f in enumerate(schema)]
