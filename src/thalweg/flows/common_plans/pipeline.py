"""One pipeline for the plans of many queries, which come and go while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.core.batch import Batch
from thalweg.core.errors import PlanError, SnapshotError
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.common_plans.cohort import Cohort
from thalweg.flows.common_plans.nodes import Broken, SharedNodes
from thalweg.flows.common_plans.usage import Usage
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.kernel.pipeline.pipeline import kind_name
from thalweg.kernel.pipeline.strategy import Strategy
from thalweg.kernel.state.snapshot import Stateful, Tree

_USAGE_FIELDS_TO_SAVE = 3  # of a `Usage`: all but the seconds, which differ from run to run


class Gained(NamedTuple):
    """By query, the changes of its answer, or the error that ends it."""

    gains: dict[str, Batch]
    errors: dict[str, Exception]


@dataclass
class _Query:
    blueprint: Blueprint
    cohort: int
    root: int
    places: tuple[int, ...]
    before: Usage  # of the nodes at its places, when the query was added


class SharedPipeline(Stateful, kind="shared-pipeline/1"):
    """From the changes of streams and tables up to `now` to the changes of each query's answer.

    Equal sub-plans run once. A node without state serves all queries; a node with state serves the queries of one
    cohort, which have had the same input. A node that raises ends the queries above it and no others: every other
    node has done its work for the batch.
    """

    KEPT = ("_new_cohorts",)
    ADDED = ("queries", "nodes", "usage", "total", "operators")

    def __init__(self, pool: StringPool, dated: bool) -> None:
        self.pool, self.dated = pool, dated
        self._nodes = SharedNodes(pool, dated)
        self._queries: dict[str, _Query] = {}
        self._new_cohorts: list[Cohort] = []

    def __contains__(self, query: str) -> bool:
        return query in self._queries

    def __len__(self) -> int:
        return len(self._nodes)

    def parts_with_codes(self) -> list[object]:
        """The operators, and the tuples of new cohorts (see `kernel/state/marking.py`)."""
        return [*(self._nodes[place].node.operator for place in self._nodes), self._new_cohorts]

    def add(self, query: str, blueprint: Blueprint, cohort: Cohort) -> None:
        """Run another query from the next batch on."""
        if blueprint.strategy is not Strategy.AUTO:
            raise PlanError(
                f"queries that share operators run with strategy auto, not {blueprint.strategy.value}",
                hint="run it on its own: session.query(..., strategy=...)",
            )
        self._place(query, blueprint, cohort.number)
        if all(cohort.number != other.number for other in self._new_cohorts):
            self._new_cohorts.append(cohort)

    def drop(self, query: str) -> None:
        """End a query, and remove the operators that no other query needs."""
        self._nodes.release(self._queries.pop(query).places)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Gained:
        """One batch: all that streams and tables gained since the last one, up to and at `now`."""
        parts: dict[str, list[Batch]] = {query: [] for query in self._queries}
        broken: Broken = {}
        for cohort in self._new_cohorts:
            self._start_cohort(cohort, parts, broken)
        self._close_cohorts()
        results = self._nodes.run(self._nodes, feeds.get, now, broken)
        for name, query in self._queries.items():
            if query.root in results:
                parts[name].append(results[query.root])
        errors = {name: broken[query.root] for name, query in self._queries.items() if query.root in broken}
        changed = {name: some for name, some in parts.items() if name not in errors and any(map(len, some))}
        return Gained({name: Batch.concat(some) for name, some in changed.items()}, errors)

    def _start_cohort(self, cohort: Cohort, parts: dict[str, list[Batch]], broken: Broken) -> None:
        """Start the queries of a cohort, and feed them what the cohort may see."""
        members = {name: query for name, query in self._queries.items() if query.cohort == cohort.number}
        places = sorted({place for query in members.values() for place in query.places})
        begun = self._nodes.run(places, lambda source: None, cohort.start - 1, broken, silent=True)
        fed = self._nodes.run(places, cohort.feeds.get, cohort.now, broken) if cohort.feeds else {}
        for name, query in members.items():
            parts[name] += [cohort.shown(results[query.root]) for results in (begun, fed) if query.root in results]

    def _close_cohorts(self) -> None:
        self._new_cohorts = []
        self._nodes.places.close_cohorts()

    def _place(self, name: str, blueprint: Blueprint, cohort: int) -> None:
        places = self._nodes.lower(blueprint, cohort)
        self._queries[name] = _Query(blueprint, cohort, places[-1], places, self._sum(places))

    # -- questions about queries

    @property
    def total(self) -> Usage:
        """What all queries have cost, dropped ones included."""
        return self._nodes.total

    def usage(self, query: str) -> Usage:
        """What a query has cost since it was added."""
        found = self._queries[query]
        return self._sum(found.places) - found.before

    def stored(self, query: str) -> int:
        """How many tuples the operators of a query store; shared operators count in full."""
        operators = (self._nodes[place].node.operator for place in self._queries[query].places)
        return sum(operator.stored for operator in operators if operator is not None)

    def operators(self, query: str) -> list[tuple[str, int]]:
        """The operators of a query, inputs first, each with the number of queries that share it."""
        found = (self._nodes[place] for place in self._queries[query].places)
        return [(running.name, running.users) for running in found]

    def _sum(self, places: tuple[int, ...]) -> Usage:
        return sum((self._nodes[place].usage for place in places), Usage())

    # -- state

    def snapshot(self) -> Tree:
        """The state between two batches, without the blueprints of the queries."""
        nodes = [self._nodes[place] for place in self._in_order()]
        return super().snapshot() | {
            "queries": [
                [name, query.cohort, *query.before[:_USAGE_FIELDS_TO_SAVE]] for name, query in self._queries.items()
            ],
            "nodes": [kind_name(running.node) for running in nodes],
            "usage": [list(running.usage[:_USAGE_FIELDS_TO_SAVE]) for running in nodes],
            "total": list(self.total[:_USAGE_FIELDS_TO_SAVE]),
            "operators": [running.node.operator.snapshot() for running in nodes if running.node.operator is not None],
        }

    def restore(self, tree: Tree, blueprints: Mapping[str, Blueprint] | None = None) -> None:
        """Go on from a snapshot, with the blueprints of its queries; the pool must know its strings already."""
        self._nodes = SharedNodes(self.pool, self.dated)
        self._queries = {}
        for name, cohort, *before in tree["queries"]:
            self._place(name, (blueprints or {})[name], cohort)
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
        self._nodes.places.close_cohorts(but={cohort.number for cohort in self._new_cohorts})

    def _in_order(self) -> list[int]:
        """The places of all nodes in an order that depends on the queries alone."""
        return list(dict.fromkeys(place for query in self._queries.values() for place in query.places))
