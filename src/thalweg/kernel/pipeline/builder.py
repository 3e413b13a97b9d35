"""A pipeline under construction: operators are added one by one, and known by their place."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace
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


class Stages:
    """The nodes so far, and the small operators that larger ones are composed of."""

    def __init__(self, pool: StringPool, dated: bool, settings: BufferSettings) -> None:
        self.pool, self.dated, self.settings = pool, dated, settings
        self.nodes: dict[int, Node] = {}  # by place: what a node depends on stands before it
        self._places = count()

    def pipeline(self, identity: Identity) -> Pipeline:
        """What has been built; the last node gives the answer."""
        return Pipeline(tuple(self.nodes.values()), self.pool, self.dated, identity)

    def schema(self, place: int) -> Schema:
        """The columns of a node's output."""
        return self.nodes[place].schema

    def add(
        self, schema: Schema, operator: Operator, *inputs: int, tells_changes: bool = False, wakes: bool = False
    ) -> int:
        """An operator over the outputs at some places."""
        return self._put(Node(schema, operator, inputs, tells_changes=tells_changes, wakes=wakes))

    def announce(self, place: int) -> None:
        """Time-messages about the ends of a node's tuples begin there."""
        self.nodes[place] = replace(self.nodes[place], announces=True)

    def source(self, schema: Schema, name: str) -> int:
        """A stream or table that is fed from outside."""
        return self._put(Node(schema, None, source=name))

    def _put(self, node: Node) -> int:
        place = next(self._places)
        self.nodes[place] = node
        return place

    def project(self, place: int, expressions: Sequence[Named]) -> int:
        """Computed columns."""
        output = Schema(tuple(Field(e.name, e.expression.type) for e in expressions))
        operator = project.Project(self.schema(place), [e.expression for e in expressions], self.pool)
        return self.add(output, operator, place)

    def union(self, *places: int) -> int:
        """All together."""
        return self.add(self.schema(places[0]), union.Union(), *places)

    def minus(self, place: int, part: int) -> int:
        """A bag less a part of it."""
        return self.union(place, self.add(self.schema(part), Negate(), part))

    def distinct(self, place: int, direct: bool) -> int:
        """Each row once: delta* where the input has no negative tuples and nobody asks for dates."""
        schema = self.schema(place)
        small = direct and not self.dated
        return self.add(schema, DeltaStar(schema) if small else distinct.Distinct(schema, self.dated), place)


def columns(schema: Schema) -> list[Named]:
    """All columns under their names."""
    return [Named(column(schema, i), f.name) for i, f in enumerate(schema)]
