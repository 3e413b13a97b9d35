"""The operators of one stage, fed through the stage's ports; each group has a fragment of its own.

The driver lowers the plan once and plans each stage's fragment. A task makes only the operators of its stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.builder import NodeTemplate, PipelineTemplate
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.runtime.distributed.stages import BROADCAST, Cut, Placement
from thalweg.runtime.distributed.stages.stages import Place


class OutPort(NamedTuple):
    """A port of a later stage: the node of the fragment that feeds it, its columns, and how they are partitioned."""

    node: int
    schema: Schema
    key: Placement


class Outputs(NamedTuple):
    """What a fragment gives: rows for the ports of later stages, and changes of the answer."""

    ports: dict[int, Batch]
    answer: Batch | None


@dataclass(frozen=True)
class FragmentPlan:
    """How the fragment of a stage is made. Its nodes are the stage's ports, then its operators."""

    inputs: Mapping[int, Schema]  # by port of the stage
    outputs: Mapping[int, OutPort]  # by port of a later stage
    answer: int | None  # the node that gives the answer, if it is here
    operators: tuple[NodeTemplate, ...]
    alone: frozenset[int]  # operators that must see all tuples: they run in group 0 only
    same_in_all_groups: tuple[bool, ...]  # by node
    dated: bool
    identity: Identity

    @staticmethod
    def of(pipeline: PipelineTemplate, cut: Cut, stage: int) -> FragmentPlan:
        """The fragment of a stage of a pipeline that is cut."""
        inputs = {i: pipeline.nodes[port.node].schema for i, port in enumerate(cut.ports) if port.stage == stage}
        positions = {port: position for position, port in enumerate(inputs)}
        steps = cut.stages[stage].steps if stage < len(cut.stages) else []

        def node(place: Place) -> int:
            return positions[place.at] if place.is_port else len(positions) + place.at

        operators = tuple(
            replace(pipeline.nodes[step.node], inputs=tuple(node(place) for place in step.inputs)) for step in steps
        )
        outputs = {
            i: OutPort(node(port.origin), pipeline.nodes[port.node].schema, port.key)
            for i, port in enumerate(cut.ports)
            if port.origin is not None and port.origin.stage == stage
        }
        same = [cut.ports[i].key is BROADCAST for i in inputs] + [step.broadcast for step in steps]
        answer = node(cut.answer) if cut.answer.stage == stage else None
        alone = frozenset(i for i, step in enumerate(steps) if step.alone)
        return FragmentPlan(inputs, outputs, answer, operators, alone, tuple(same), pipeline.dated, pipeline.identity)


class Fragment:
    """The operators of a stage in one group, with a string pool of their own."""

    def __init__(self, plan: FragmentPlan, group: int) -> None:
        self.plan, self.pool = plan, StringPool()
        sources = [NodeTemplate(schema, None, source=str(i)) for i, schema in plan.inputs.items()]
        operators = [_absent(node) if i in plan.alone and group != 0 else node for i, node in enumerate(plan.operators)]
        nodes = [node.node(self.pool) for node in (*sources, *operators)]
        shown = {port.node for port in plan.outputs.values()} | (set() if plan.answer is None else {plan.answer})
        self.pipeline = Pipeline(nodes, self.pool, plan.dated, plan.identity, shown)

    def begin(self, feeds: Mapping[int, Batch], before: Instant) -> Outputs:
        """The outputs just before anything can happen; the ports bring those of earlier stages."""
        return self.process(feeds, before, silent=True)

    def process(self, feeds: Mapping[int, Batch], now: Instant, silent: bool = False) -> Outputs:
        """The outputs up to `now`, given the rows of each port."""
        results = self.pipeline.process_shown({str(i): batch for i, batch in feeds.items()}, now, silent)
        answer = None if self.plan.answer is None else results[self.plan.answer]
        return Outputs({i: results[port.node] for i, port in self.plan.outputs.items()}, answer)


def _absent(node: NodeTemplate) -> NodeTemplate:
    """The place of an operator that must see all tuples in other groups: COUNT must not give 0 in each."""
    return NodeTemplate(node.schema, None, source="nothing")
