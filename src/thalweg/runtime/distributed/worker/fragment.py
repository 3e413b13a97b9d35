"""One group of one stage: the stage's operators, fed through its ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import Node, Pipeline
from thalweg.runtime.distributed.stages import EVERYWHERE
from thalweg.runtime.distributed.stages.stages import Cut, Place


class Outputs(NamedTuple):
    """What a stage's group gives: through the ports of later stages, and as part of the answer."""

    ports: dict[int, Batch]
    answer: Batch | None


class Fragment:
    """Runs the steps of one stage. Sources of its pipeline are ports, by number."""

    def __init__(self, blueprint: Blueprint, cut: Cut, stage: int, group: int) -> None:
        self.pool = StringPool()
        self._cut, self._stage = cut, stage
        whole = blueprint.build(self.pool)
        self.dated = whole.dated
        self.ports = {i: whole.nodes[port.node].schema for i, port in enumerate(cut.ports) if port.stage == stage}
        self._ports = {i: place for place, i in enumerate(self.ports)}
        steps = cut.stages[stage].steps if stage < len(cut.stages) else []
        # By node of its pipeline, what is the same in every group.
        self.alike = [cut.ports[i].key is EVERYWHERE for i in self.ports] + [step.everywhere for step in steps]
        nodes = [Node(schema, None, source=str(i)) for i, schema in self.ports.items()]
        used: set[int] = set()
        for step in steps:
            if step.node in used:  # an operator that works twice in a stage has two states
                whole, used = blueprint.build(self.pool), set()
            used.add(step.node)
            node = whole.nodes[step.node]
            inputs = tuple(self._index(place) for place in step.inputs)
            nodes.append(replace(node, inputs=inputs) if group == 0 or not step.alone else _absent(node))
        self.pipeline = Pipeline(nodes, self.pool, self.dated, whole.identity)

    def begin(self, feeds: Mapping[int, Batch], before: Instant) -> Outputs:
        """The outputs just before anything can happen; the ports bring those of earlier stages."""
        return self._outputs(self.pipeline.begin_all(before, {str(i): batch for i, batch in feeds.items()}))

    def process(self, feeds: Mapping[int, Batch], now: Instant) -> Outputs:
        """What the ports of this stage have brought up to `now`."""
        return self._outputs(self.pipeline.process_all({str(i): batch for i, batch in feeds.items()}, now))

    def schema_of(self, port: int) -> Schema:
        """The columns of what goes through a port that this stage feeds."""
        origin = self._cut.ports[port].origin
        assert origin is not None
        return self.pipeline.nodes[self._index(origin)].schema

    def _outputs(self, results: list[Batch]) -> Outputs:
        fed = {
            i: results[self._index(port.origin)]
            for i, port in enumerate(self._cut.ports)
            if port.origin is not None and port.origin.stage == self._stage
        }
        here = self._cut.answer.stage == self._stage
        return Outputs(fed, results[self._index(self._cut.answer)] if here else None)

    def _index(self, place: Place) -> int:
        return self._ports[place.at] if place.is_port else len(self._ports) + place.at


def _absent(node: Node) -> Node:
    """In the other groups what must see all is not there: an aggregate over nothing must not say so in each."""
    return Node(node.schema, None, source="nothing")
