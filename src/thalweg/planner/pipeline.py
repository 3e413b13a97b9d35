"""A plan's operators in the order of their dependencies, run a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.operators.base import Operator
from thalweg.planner.identity import Identity
from thalweg.planner.metrics import OperatorMetrics
from thalweg.state.snapshot import Tree


@dataclass(frozen=True)
class Node:
    """An operator with the places of its inputs, or a source (no operator) with the name it is fed by."""

    schema: Schema
    operator: Operator | None
    inputs: tuple[int, ...] = ()
    source: str = ""
    tells_changes: bool = False  # ISTREAM and its kin: what is there before anything happens is no change


class Pipeline:
    """Takes what streams and tables gained up to `now`, gives what the answer gained."""

    def __init__(self, nodes: Sequence[Node], pool: StringPool, dated: bool, identity: Identity) -> None:
        self.nodes = tuple(nodes)
        self.identity = identity
        self.pool = pool
        self.dated = dated
        self.metrics = [OperatorMetrics(_name(node)) for node in self.nodes]

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.nodes[-1].schema

    def begin(self, before: Instant) -> Batch:
        """The answer over nothing, just before anything can happen; to be called once, first.

        What is there already (a count of zero) is not new, so stream operators take note of it and say nothing.
        """
        return self._run({}, before, silent=True)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Batch:
        """One batch: all that streams and tables gained since the last one, up to and at `now`."""
        return self._run(feeds, now)

    def _run(self, feeds: Mapping[str, Batch], now: Instant, silent: bool = False) -> Batch:
        results: list[Batch] = []
        for node, metrics in zip(self.nodes, self.metrics, strict=True):
            inputs: list[Batch] = []
            if node.operator is None:
                result, stored = feeds.get(node.source), 0
            else:
                inputs = [results[i] for i in node.inputs]
                result, stored = node.operator.process(inputs, now), node.operator.stored
            if result is None or (silent and node.tells_changes):
                result = Batch.empty(node.schema, self.dated)
            metrics.count(inputs, result, stored)
            results.append(result)
        return results[-1]

    def snapshot(self) -> Tree:
        """All that the pipeline remembers between two batches. Nothing that happens later changes it."""
        return {
            "identity": self.identity.as_tree(),
            "pool": self.pool.snapshot(),
            "operators": [node.operator.snapshot() for node in self.nodes if node.operator is not None],
            "metrics": [metrics.snapshot() for metrics in self.metrics],
        }

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot, in a pipeline that has just been built (`begin` must not be called) or in any other.

        A SnapshotError says so if the snapshot is of another plan or strategy.
        """
        self.identity.check(tree.get("identity") if isinstance(tree, Mapping) else None)
        self.pool.restore(tree["pool"])
        operators = [node.operator for node in self.nodes if node.operator is not None]
        for operator, state in zip(operators, tree["operators"], strict=True):
            operator.restore(state)
        for metrics, state in zip(self.metrics, tree["metrics"], strict=True):
            metrics.restore(state)

    @property
    def stored(self) -> int:
        """How many tuples all operators hold."""
        return sum(metrics.stored for metrics in self.metrics)


def _name(node: Node) -> str:
    return f"source {node.source}" if node.operator is None else type(node.operator).__name__
