"""The plans of several queries in one pipeline, which come and go while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.core.batch import Batch
from thalweg.core.errors import PlanError, SnapshotError
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.common_plans.cohort import Birth
from thalweg.flows.common_plans.nodes import Broken, SharedNodes
from thalweg.flows.common_plans.usage import Usage
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import kind_name
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.kernel.state.snapshot import Stateful, Tree

_REPEATABLE = 3  # of a usage, all but the seconds: a snapshot is the same whenever it is taken


class Gained(NamedTuple):
    """What the answers of queries gained, and the errors of those that cannot go on; by query."""

    gains: dict[str, Batch]
    errors: dict[str, Exception]


@dataclass
class _Query:
    blueprint: Blueprint
    birth: int
    root: int
    places: tuple[int, ...]
    before: Usage  # of the nodes at its places, when the query came


class SharedPipeline(Stateful, kind="shared-pipeline/1"):
    """Takes what streams and tables gained up to `now`, gives what each query's answer gained.

    Equal sub-plans are run once. Those that remember nothing serve all queries; those with state serve the queries of
    one birth, which have seen the same. A node that raises takes down the queries above it and no others: what they
    need besides has done its work for this batch like all else.
    """

    KEPT = ("_newborn",)

    def __init__(self, pool: StringPool, dated: bool) -> None:
        self.pool, self.dated = pool, dated
        self._nodes = SharedNodes(pool, dated)
        self._queries: dict[str, _Query] = {}
        self._newborn: list[Birth] = []

    def __contains__(self, query: str) -> bool:
        return query in self._queries

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, query: str, blueprint: Blueprint, birth: Birth) -> None:
        """Run another query from the next batch on, which is the first that it sees."""
        if blueprint.strategy is not Strategy.AUTO:
            raise PlanError(
                f"queries that share operators run with strategy auto, not {blueprint.strategy.value}",
                hint="run it on its own: session.query(..., strategy=...)",
            )
        self._place(query, blueprint, birth.number)
        if all(birth.number != other.number for other in self._newborn):
            self._newborn.append(birth)

    def drop(self, query: str) -> None:
        """End a query; operators that nobody needs any more go with it."""
        self._nodes.release(self._queries.pop(query).places)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Gained:
        """One batch: all that streams and tables gained since the last one, up to and at `now`."""
        parts: dict[str, list[Batch]] = {query: [] for query in self._queries}
        broken: Broken = {}
        for birth in self._newborn:
            self._bear(birth, parts, broken)
        self._end_births()
        results = self._nodes.run(self._nodes, feeds.get, now, broken)
        for name, query in self._queries.items():
            if query.root in results:
                parts[name].append(results[query.root])
        errors = {name: broken[query.root] for name, query in self._queries.items() if query.root in broken}
        told = {name: some for name, some in parts.items() if name not in errors and any(map(len, some))}
        return Gained({name: Batch.concat(some) for name, some in told.items()}, errors)

    def _bear(self, birth: Birth, parts: dict[str, list[Batch]], broken: Broken) -> None:
        """Queries begin, and are told what there is for them."""
        born = {name: query for name, query in self._queries.items() if query.birth == birth.number}
        places = sorted({place for query in born.values() for place in query.places})
        begun = self._nodes.run(places, lambda source: None, birth.start - 1, broken, silent=True)
        told = self._nodes.run(places, birth.feeds.get, birth.now, broken) if birth.feeds else {}
        for name, query in born.items():
            parts[name] += [birth.shown(results[query.root]) for results in (begun, told) if query.root in results]

    def _end_births(self) -> None:
        self._newborn = []
        self._nodes.places.end_births()

    def _place(self, name: str, blueprint: Blueprint, birth: int) -> None:
        places = self._nodes.lower(blueprint, birth)
        self._queries[name] = _Query(blueprint, birth, places[-1], places, self._sum(places))

    # -- what is asked about queries

    @property
    def total(self) -> Usage:
        """What all queries have cost, those that have gone too."""
        return self._nodes.total

    def usage(self, query: str) -> Usage:
        """What a query has cost since it came."""
        found = self._queries[query]
        return self._sum(found.places) - found.before

    def stored(self, query: str) -> int:
        """How many tuples the operators that a query needs hold; shared ones count in full."""
        operators = (self._nodes[place].node.operator for place in self._queries[query].places)
        return sum(operator.stored for operator in operators if operator is not None)

    def operators(self, query: str) -> list[tuple[str, int]]:
        """The operators of a query, inputs first, each with the number of queries that it serves."""
        found = (self._nodes[place] for place in self._queries[query].places)
        return [(running.name, running.users) for running in found]

    def _sum(self, places: tuple[int, ...]) -> Usage:
        return sum((self._nodes[place].usage for place in places), Usage())

    # -- taken down and set up again

    def snapshot(self) -> Tree:
        """All that is remembered between two batches; the blueprints of queries are not part of it."""
        nodes = [self._nodes[place] for place in self._in_order()]
        return super().snapshot() | {
            "queries": [[name, query.birth, *query.before[:_REPEATABLE]] for name, query in self._queries.items()],
            "nodes": [kind_name(running.node) for running in nodes],
            "usage": [list(running.usage[:_REPEATABLE]) for running in nodes],
            "total": list(self.total[:_REPEATABLE]),
            "operators": [running.node.operator.snapshot() for running in nodes if running.node.operator is not None],
        }

    def restore(self, tree: Tree, blueprints: Mapping[str, Blueprint] | None = None) -> None:
        """Go on from a snapshot, with the blueprints of its queries; the pool must know its strings already."""
        self._nodes = SharedNodes(self.pool, self.dated)
        self._queries = {}
        for name, birth, *before in tree["queries"]:
            self._place(name, (blueprints or {})[name], birth)
            self._queries[name].before = Usage(*before)
        super().restore(tree)
        nodes = [self._nodes[place] for place in self._in_order()]
        names = [kind_name(running.node) for running in nodes]
        if names != tree["nodes"]:
            raise SnapshotError(
                f"expected a snapshot of the operators {', '.join(names)}, but it was taken of "
                f"{', '.join(tree['nodes'])}",
                hint="the plans were lowered by another version of Thalweg: add the queries anew",
            )
        operators = [running.node.operator for running in nodes if running.node.operator is not None]
        for operator, state in zip(operators, tree["operators"], strict=True):
            operator.restore(state)
        for running, usage in zip(nodes, tree["usage"], strict=True):
            running.usage = Usage(*usage)
        self._nodes.total = Usage(*tree["total"])
        self._nodes.places.end_births(but={birth.number for birth in self._newborn})

    def _in_order(self) -> list[int]:
        """The places of all nodes in an order that depends on the queries alone."""
        return list(dict.fromkeys(place for query in self._queries.values() for place in query.places))
