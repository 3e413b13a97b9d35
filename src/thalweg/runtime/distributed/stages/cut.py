"""A pipeline cut into stages: operators that share a key run together, there is an exchange between the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from thalweg.algebra.expressions import columns_of
from thalweg.algebra.plan import Plan
from thalweg.kernel.operator import Key
from thalweg.kernel.pipeline.blueprint import choose
from thalweg.kernel.pipeline.pipeline import Node, Pipeline
from thalweg.runtime.distributed.stages.keys import BROADCAST, Placement, above, below, keys_of, outputs, parts_for
from thalweg.runtime.distributed.stages.stages import Cut, Place, PlacedNode, Port, Stage


def cut(pipeline: Pipeline, broadcast: Collection[str] = ()) -> Cut:
    """The pipeline as stages; inputs of an operator with keys are partitioned by them.

    Tables in `broadcast` are small: joined as the second input, they are copied to every group of the first one's
    tuples. So are partial aggregates.
    """
    cutter = _Cutter(pipeline.nodes, broadcast)
    answer = cutter.place(len(pipeline.nodes) - 1, None)
    return Cut(tuple(cutter.stages), tuple(cutter.ports), answer)


def needs_all_tuples(plan: Plan, keys: Mapping[str, Key | None], tables: Collection[str]) -> bool:
    """Whether a query of a flow must see all its tuples in one group.

    It need not if tuples that its operators must see together have equal values of the flow's `keys` (by stream).
    """
    pipeline = choose(plan, in_shards=True).blueprint.build()
    parts = cut(pipeline, tables)
    if len(parts.stages) > 1 or any(port.origin is not None for port in parts.ports):
        return True
    for port in parts.ports:
        wanted, given = port.key, keys.get(pipeline.nodes[port.node].source)
        if wanted is None or wanted is BROADCAST:
            continue
        if not given or not all(part in wanted for part in given):
            return True
    return False


class _Cutter:
    def __init__(self, nodes: Sequence[Node], broadcast: Collection[str]) -> None:
        self._nodes = nodes
        self._broadcast: list[bool] = []  # by node: whether every group can have all of its output
        for node in nodes:
            self._broadcast.append(node.source in broadcast if node.operator is None else self._is_broadcast(node))
        self.stages: list[Stage] = []
        self.ports: list[Port] = []
        self._places: dict[tuple[int, Key | None], Place] = {}
        self._keyed: dict[tuple[int, tuple[int, ...]], Place] = {}
        self._copies: dict[tuple[int, int], Place] = {}  # by node and stage

    def place(self, node: int, key: Key | None) -> Place:
        """Where the output of a node is, partitioned by `key`."""
        if (node, key) not in self._places:
            self._places[node, key] = self._place(node, key)
        return self._places[node, key]

    def _place(self, i: int, key: Key | None) -> Place:
        node = self._nodes[i]
        if node.operator is None:
            return self._port(0, i, key, None)
        if node.operator.is_partial:
            return self._place_part(i, key)
        if node.operator.keys is None:
            key = self._natural(i) if key is None else key
            return self._step(i, [self.place(j, below(key, node)) for j in node.inputs])
        if self._joins_broadcast(node):
            return self._with_broadcast(i, key)
        widths = [len(self._nodes[j].schema) for j in node.inputs]
        parts = parts_for(node, key, widths) or self._parts(node)
        work = self._with_keys(i, parts)
        if key is None or key in outputs(node, parts, widths):
            return work
        return self._port(work.stage + 1, i, key, work)

    def _place_part(self, i: int, key: Key | None) -> Place:
        """A partial aggregate runs wherever its input is; its few rows are sent to the groups that need them."""
        if key is None:
            return self._step(i, [self.place(j, self._natural(j)) for j in self._nodes[i].inputs])
        work = self.place(i, None)
        return self._port(work.stage + 1, i, key, work)

    def _is_broadcast(self, node: Node) -> bool:
        assert node.operator is not None
        return node.operator.is_partial or all(self._broadcast[j] for j in node.inputs)

    def _joins_broadcast(self, node: Node) -> bool:
        """Whether an operator's second input is broadcast, so that it can run wherever the first one's tuples are."""
        assert node.operator is not None
        return node.operator.allows_broadcast and [self._broadcast[j] for j in node.inputs] == [False, True]

    def _with_broadcast(self, i: int, key: Key | None) -> Place:
        """Such an operator, its first input partitioned by the key asked for if it has the columns."""
        first, second = self._nodes[i].inputs
        width = len(self._nodes[first].schema)
        has_key = key is not None and all(column < width for part in key for column in columns_of(part))
        partitioned = self.place(first, key if has_key else self._natural(first))
        stage = max(partitioned.stage, self._first_stage_with_copies(second))
        work = self._step(i, [partitioned, self._copy(second, stage)])
        return work if key is None or has_key else self._port(work.stage + 1, i, key, work)

    def _first_stage_with_copies(self, i: int) -> int:
        """The first stage in which every group can have all inputs of a node."""
        node = self._nodes[i]
        if node.operator is None:
            return 0
        return (
            self.place(i, None).stage + 1
            if node.operator.is_partial
            else max(map(self._first_stage_with_copies, node.inputs))
        )

    def _copy(self, i: int, stage: int) -> Place:
        """A node's output in every group of a stage: a source or partial aggregate is sent there, others run there."""
        if (i, stage) not in self._copies:
            node = self._nodes[i]
            if node.operator is None or node.operator.is_partial:
                origin = None if node.operator is None else self.place(i, None)
                found = self._port(stage, i, BROADCAST, origin)
            else:
                found = self._put(
                    stage, PlacedNode(i, tuple(self._copy(j, stage) for j in node.inputs), broadcast=True)
                )
            self._copies[i, stage] = found
        return self._copies[i, stage]

    def _with_keys(self, i: int, parts: tuple[int, ...]) -> Place:
        """An operator whose inputs are partitioned by some parts of its keys."""
        if (i, parts) not in self._keyed:
            node = self._nodes[i]
            sides = [tuple(side[p] for p in parts) for side in keys_of(node)]
            inputs = [self.place(j, side) for j, side in zip(node.inputs, sides, strict=True)]
            self._keyed[i, parts] = self._step(i, inputs, alone=not sides[0])
        return self._keyed[i, parts]

    def _parts(self, node: Node) -> tuple[int, ...]:
        """All parts of an operator's keys, or those by which an input is partitioned anyway."""
        for side, j in zip(keys_of(node), node.inputs, strict=True):
            natural = self._natural(j)
            if natural and all(part in side for part in natural):
                return tuple(side.index(part) for part in natural)
        return tuple(range(len(keys_of(node)[0])))

    def _natural(self, i: int) -> Key | None:
        """The key by which a node's output is partitioned if no other is needed; None if any would do."""
        node = self._nodes[i]
        if node.operator is None or node.operator.is_partial:
            return None
        if self._joins_broadcast(node):
            return self._natural(node.inputs[0])
        if node.operator.keys is not None:
            return outputs(node, self._parts(node), [len(self._nodes[j].schema) for j in node.inputs])[0]
        for j in node.inputs:
            found = self._natural(j)
            if found is not None:
                return above(found, node)
        return None

    def _step(self, node: int, inputs: Sequence[Place], alone: bool = False) -> Place:
        """An operator in the stage of its last input; the other inputs are sent on to that stage."""
        stage = max(place.stage for place in inputs)
        sent_on = tuple(place if place.stage == stage else self._send_on(place, stage) for place in inputs)
        return self._put(stage, PlacedNode(node, sent_on, alone))

    def _put(self, stage: int, step: PlacedNode) -> Place:
        while len(self.stages) <= stage:
            self.stages.append(Stage())
        self.stages[stage].steps.append(step)
        return Place(stage, len(self.stages[stage].steps) - 1, is_port=False)

    def _send_on(self, place: Place, stage: int) -> Place:
        """The same output, group by group, in a later stage."""
        if place.is_port:
            port = self.ports[place.at]
            return self._port(stage, port.node, port.key, port.origin)
        node = self.stages[place.stage].steps[place.at].node
        return self._port(stage, node, None, place)

    def _port(self, stage: int, node: int, key: Placement, origin: Place | None) -> Place:
        port = Port(stage, node, key, origin)
        if port not in self.ports:
            self.ports.append(port)
        return Place(stage, self.ports.index(port), is_port=True)
