"""A pipeline under construction: templates of nodes are added one by one, and identified by their place.

No operator is made yet: templates can be sent to other processes, which make the operators that they need.
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

PlaceByPlan = MutableMapping[Plan, int]  # the place of the node that gives a plan's results
MakeOperator = Callable[[StringPool], Operator]


@dataclass(frozen=True)
class NodeTemplate:
    """A node whose operator has not been made; without `make` it is a source."""

    schema: Schema
    make: MakeOperator | None
    inputs: tuple[int, ...] = ()
    source: str = ""
    emits_changes: bool = False
    wakes: bool = False
    announces: bool = False

    def node(self, pool: StringPool) -> Node:
        """A new node, with an operator in its first state."""
        operator = None if self.make is None else self.make(pool)
        return Node(self.schema, operator, self.inputs, self.source, self.emits_changes, self.wakes, self.announces)


@dataclass(frozen=True)
class PipelineTemplate:
    """A pipeline whose operators have not been made; the last node gives the answer."""

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


class PipelineBuilder:
    """The templates so far, and methods that add the common operators."""

    def __init__(self, dated: bool, settings: BufferSettings) -> None:
        self.dated, self.settings = dated, settings
        self.nodes: dict[int, NodeTemplate] = {}  # by place; the inputs of a node come before it
        self._places = count()

    def template(self, identity: Identity, places: Mapping[Plan, int]) -> PipelineTemplate:
        """The template of a pipeline of all nodes; the last node gives the answer."""
        return PipelineTemplate(tuple(self.nodes.values()), self.dated, identity, places)

    def schema(self, place: int) -> Schema:
        """The schema of a node's output."""
        return self.nodes[place].schema

    def add(
        self, schema: Schema, make: MakeOperator, *inputs: int, emits_changes: bool = False, wakes: bool = False
    ) -> int:
        """Add an operator whose inputs are the nodes at some places.

        `make` should refer to as few objects as possible, because they are sent to other processes with it.
        """
        return self._put(NodeTemplate(schema, make, inputs, emits_changes=emits_changes, wakes=wakes))

    def announce(self, place: int) -> None:
        """Let a node send time-messages when its tuples end."""
        self.nodes[place] = replace(self.nodes[place], announces=True)

    def source(self, schema: Schema, name: str) -> int:
        """Add a stream or table, which the caller of the pipeline feeds."""
        return self._put(NodeTemplate(schema, None, source=name))

    def _put(self, node: NodeTemplate) -> int:
        place = next(self._places)
        self.nodes[place] = node
        return place

    def project(self, place: int, expressions: Sequence[Named]) -> int:
        """Add a projection."""
        output = Schema(tuple(Field(e.name, e.expression.type) for e in expressions))
        schema, items = self.schema(place), [e.expression for e in expressions]
        return self.add(output, lambda pool: project.Project(schema, items, pool), place)

    def union(self, *places: int) -> int:
        """Add a union."""
        tuning = self.settings.tuning
        return self.add(self.schema(places[0]), lambda _: union.Union(tuning), *places)

    def minus(self, place: int, part: int) -> int:
        """Add the difference of a bag and a part of it."""
        return self.union(place, self.add(self.schema(part), lambda _: Negate(), part))

    def distinct(self, place: int, direct: bool) -> int:
        """Add duplicate elimination: delta* if the input has no negative tuples and no operator needs dates."""
        schema, dated = self.schema(place), self.dated
        if direct and not dated:
            return self.add(schema, lambda _: DeltaStar(schema), place)
        return self.add(schema, lambda _: distinct.Distinct(schema, dated), place)


def columns(schema: Schema) -> list[Named]:
    """All columns of a schema, with their names."""
    return [Named(column(schema, i), f.name) for i, f in enumerate(schema)]
