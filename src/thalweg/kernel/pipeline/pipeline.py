"""A plan's operators in the order of their dependencies, run a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.errors import SnapshotError
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.state.snapshot import Tree, kind_of, nbytes


@dataclass(frozen=True)
class Node:
    """An operator with the places of its inputs, or a source (no operator) with the name it is fed by."""

    schema: Schema
    operator: Operator | None
    inputs: tuple[int, ...] = ()
    source: str = ""
    tells_changes: bool = False  # ISTREAM and its kin: what is there before anything happens is no change
    wakes: bool = False  # windows and EXPIRE: time alone lets tuples in and out
    announces: bool = False  # the uppermost selection of a window whose tuples know their ends


class Pipeline:
    """Takes what streams and tables gained up to `now`, gives what the answer gained."""

    def __init__(self, nodes: Sequence[Node], pool: StringPool, dated: bool, identity: Identity) -> None:
        self.nodes = tuple(nodes)
        self.identity = identity
        self.pool = pool
        self.dated = dated
        self.places: Mapping[Plan, int] = {}  # by sub-plan, the node that gives its results; kept by `build`
        self.metrics = [OperatorMetrics(name_of(node)) for node in self.nodes]

    @property
    def schema(self) -> Schema:
        """The answer's columns."""
        return self.nodes[-1].schema

    def begin(self, before: Instant) -> Batch:
        """The answer over nothing, just before anything can happen; to be called once, first.

        What is there already (a count of zero) is not new, so stream operators take note of it and say nothing.
        """
        return self.begin_all(before)[-1]

    def begin_all(self, before: Instant, feeds: Mapping[str, Batch] | None = None) -> list[Batch]:
        """The same for every operator, over what is there from the beginning."""
        return self.process_all(feeds or {}, before, silent=True)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Batch:
        """One batch: all that streams and tables gained since the last one, up to and at `now`."""
        return self.process_all(feeds, now)[-1]

    def process_all(self, feeds: Mapping[str, Batch], now: Instant, silent: bool = False) -> list[Batch]:
        """The same with the output of every operator; if `silent`, those that give changes give none."""
        results: list[Batch] = []
        for node, metrics in zip(self.nodes, self.metrics, strict=True):
            inputs: list[Batch] = []
            if node.operator is None:
                result = feeds.get(node.source)
            else:
                inputs = [results[i] for i in node.inputs]
                result = node.operator.process(inputs, now)
            if result is None or (silent and node.tells_changes):
                result = Batch.empty(node.schema, self.dated)
            metrics.count(inputs, result, node.operator)
            results.append(result)
        return results

    def measure(self) -> list[OperatorMetrics]:
        """What each operator has done, and what it holds now, also in bytes."""
        for node, metrics in zip(self.nodes, self.metrics, strict=True):
            if node.operator is not None:
                metrics.stored, metrics.bytes = node.operator.stored, nbytes(node.operator)
        return self.metrics

    def snapshot(self) -> Tree:
        """All that the pipeline remembers between two batches. Nothing that happens later changes it."""
        return {
            "identity": self.identity.as_tree(),
            "nodes": self._kinds(),
            "pool": self.pool.snapshot(),
            "operators": [node.operator.snapshot() for node in self.nodes if node.operator is not None],
            "metrics": [metrics.snapshot() for metrics in self.metrics],
        }

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot, in a pipeline that has just been built (`begin` must not be called) or in any other.

        A SnapshotError says so if the snapshot is of another plan or strategy.
        """
        self.identity.check(tree.get("identity") if isinstance(tree, Mapping) else None)
        if tree["nodes"] != self._kinds():
            raise SnapshotError(
                f"expected a snapshot of the operators {', '.join(self._kinds())}, but it was taken of "
                f"{', '.join(tree['nodes'])}",
                hint="the plan was lowered by another version of Thalweg: run the query anew",
            )
        self.pool.restore(tree["pool"])
        operators = [node.operator for node in self.nodes if node.operator is not None]
        for operator, state in zip(operators, tree["operators"], strict=True):
            operator.restore(state)
        for metrics, state in zip(self.metrics, tree["metrics"], strict=True):
            metrics.restore(state)

    def _kinds(self) -> list[str]:
        return [kind_name(node) for node in self.nodes]

    @property
    def stored(self) -> int:
        """How many tuples all operators hold."""
        return sum(metrics.stored for metrics in self.metrics)


def kind_name(node: Node) -> str:
    """What snapshots call an operator, however its class is called and whatever version its state has; or a source."""
    return f"source {node.source}" if node.operator is None else kind_of(type(node.operator)).rpartition("/")[0]


def name_of(node: Node) -> str:
    """The operator's name, or the source's."""
    return f"source {node.source}" if node.operator is None else type(node.operator).__name__
