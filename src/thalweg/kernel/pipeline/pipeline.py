"""A pipeline: the operators of a plan in the order of their dependencies, run one batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thalweg.algebra.plan import Plan
from thalweg.core.batch import Batch
from thalweg.core.errors import SnapshotError
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.kernel.operator import Operator
from thalweg.kernel.pipeline.identity import Identity
from thalweg.kernel.pipeline.metrics import OperatorMetrics
from thalweg.kernel.pipeline.pieces import Passing, whole
from thalweg.kernel.state.marking import forget_strings
from thalweg.kernel.state.snapshot import Tree, kind_of, nbytes


@dataclass(frozen=True)
class Node:
    """An operator with the places of its inputs, or a source (no operator) with its name."""

    schema: Schema
    operator: Operator | None
    inputs: tuple[int, ...] = ()
    source: str = ""
    emits_changes: bool = False  # ISTREAM, DSTREAM, RSTREAM: the relation before the first batch is no change
    wakes: bool = False  # windows and EXPIRE: their output changes as time passes
    announces: bool = False  # the last selection or projection above a window whose tuples have known ends


class Pipeline:
    """Turns the changes of streams and tables up to `now` into the changes of the answer."""

    def __init__(
        self,
        nodes: Sequence[Node],
        pool: StringPool,
        dated: bool,
        identity: Identity,
        shown: Collection[int] | None = None,
    ) -> None:
        """`shown` are the places of the nodes whose output is asked for; None: only the last, with the answer."""
        self.nodes = tuple(nodes)
        self._shown = frozenset((len(self.nodes) - 1,) if shown is None else shown)
        self._passing = Passing.of([n.operator for n in self.nodes], [n.inputs for n in self.nodes], self._shown)
        self.identity = identity
        self.pool = pool
        self.dated = dated
        self.places: Mapping[Plan, int] = {}  # by sub-plan, the node that gives its results; set by `build`
        self.metrics = [OperatorMetrics(name_of(node)) for node in self.nodes]

    @property
    def schema(self) -> Schema:
        """The schema of the answer."""
        return self.nodes[-1].schema

    def begin(self, before: Instant) -> Batch:
        """The answer over empty inputs, just before the first instant. It must be called once, before `process`.

        The row of a global aggregate, such as a count of zero, is no change: stream operators see it and emit nothing.
        """
        return self._answer(self.process_shown({}, before, silent=True))

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Batch:
        """Process one batch: the changes of streams and tables since the last batch, up to and including `now`."""
        return self._answer(self.process_shown(feeds, now))

    def _answer(self, outputs: Mapping[int, Batch]) -> Batch:
        return outputs[len(self.nodes) - 1]

    def process_shown(self, feeds: Mapping[str, Batch], now: Instant, silent: bool = False) -> dict[int, Batch]:
        """Process one batch, and return the outputs that are asked for; if `silent`, stream operators emit nothing."""
        results: list[Batch | Iterator[Batch]] = []
        for place, (node, metrics) in enumerate(zip(self.nodes, self.metrics, strict=True)):
            join = self._passing.joins.get(place)
            if node.operator is not None and join is not None:
                pieces = _pieces(node.operator, [results[i] for i in node.inputs], now, metrics)
                results.append(pieces if place in self._passing.places else whole(pieces, join))
                continue
            inputs = [given for given in (results[i] for i in node.inputs) if isinstance(given, Batch)]
            result = feeds.get(node.source) if node.operator is None else node.operator.process(inputs, now)
            if result is None or (silent and node.emits_changes):
                result = Batch.empty(node.schema, self.dated)
            metrics.count(inputs, result, node.operator)
            results.append(result)
        return {
            place: given for place, given in enumerate(results) if place in self._shown and isinstance(given, Batch)
        }

    def forget_strings(self, *others: Any) -> None:
        """Now and then forget the strings that no operator names, and nothing else that holds codes of the pool.

        To be called between batches, by whoever owns the pool, when nobody needs the last output any more.
        """
        forget_strings(self.pool, self.nodes, others)

    def measure(self) -> list[OperatorMetrics]:
        """The metrics of all operators, with the current sizes of their state in tuples and bytes."""
        for node, metrics in zip(self.nodes, self.metrics, strict=True):
            if node.operator is not None:
                metrics.stored, metrics.bytes = node.operator.stored, nbytes(node.operator)
        return self.metrics

    def snapshot(self) -> Tree:
        """The state of all operators between two batches. Later batches do not change the snapshot."""
        return {
            "identity": self.identity.as_tree(),
            "nodes": self._kinds(),
            "pool": self.pool.snapshot(),
            "operators": [node.operator.snapshot() for node in self.nodes if node.operator is not None],
            "metrics": [metrics.snapshot() for metrics in self.metrics],
        }

    def restore(self, tree: Tree) -> None:
        """Go back to a snapshot; in a new pipeline, `begin` must not be called before or after.

        Raise a SnapshotError if the snapshot is of another plan or strategy.
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
        """The number of tuples in the state of all operators."""
        return sum(metrics.stored for metrics in self.metrics)


def kind_name(node: Node) -> str:
    """The name of a node in snapshots: the kind of its operator's state without the version, or the source's name."""
    return f"source {node.source}" if node.operator is None else kind_of(type(node.operator)).rpartition("/")[0]


def name_of(node: Node) -> str:
    """The name of a node in metrics and EXPLAIN: the class of its operator, or the source's name."""
    return f"source {node.source}" if node.operator is None else type(node.operator).__name__


def _pieces(
    operator: Operator, inputs: Sequence[Batch | Iterator[Batch]], now: Instant, metrics: OperatorMetrics
) -> Iterator[Batch]:
    """The pieces of an operator's output, counted."""
    given = [metrics.counted([batches] if isinstance(batches, Batch) else batches) for batches in inputs]
    for piece in operator.pieces(given, now):
        metrics.count_out(piece, operator)
        yield piece
    metrics.end_batch(operator)
