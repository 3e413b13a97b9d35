"""Select-project-join queries of a flow share an eddy: its filters, its SteMs and the routes through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from thalweg.algebra.codec import Functions
from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import Plan, StreamScan
from thalweg.algebra.windows import Rows
from thalweg.core.batch import Batch
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.common_plans import Cohort, Gained, Usage
from thalweg.flows.eddy.eddy import Eddy
from thalweg.flows.eddy.query import SpjQuery, spj
from thalweg.flows.guarded import Guards
from thalweg.kernel.state.snapshot import Tree


@dataclass
class _Query:
    plan: Plan
    query: SpjQuery
    slot: int
    before: Usage  # of its streams, when the query was added

    @property
    def streams(self) -> list[str]:
        return list(dict.fromkeys(use.stream for use in self.query.uses))


class EddyBackend:
    """Runs queries that select, project and join windows of streams, unless they have a backfill.

    A user's function that raises makes every query that calls it fail, and no other.
    """

    def __init__(self, pool: StringPool, policy: str = "tickets") -> None:
        self._eddy = Eddy({}, pool, policy)
        self._guards = Guards()
        self._queries: dict[str, _Query] = {}
        self._free: list[int] = []
        self._usage: dict[str, Usage] = {}  # by stream, its cost for each query that reads it
        self.total = Usage()

    def parts_with_codes(self) -> list[object]:
        """The eddy, not the plans of its queries (see `kernel/state/marking.py`)."""
        return [self._eddy]

    def takes(self, plan: Plan, cohort: Cohort) -> bool:
        """Whether the query only selects, projects and joins. A backfill is refused: it needs operators of its own."""
        if any(len(cohort.feeds.get(leaf.source.name, ())) for leaf in plan.walk() if isinstance(leaf, StreamScan)):
            return False
        return spj(plan) is not None

    def add(self, query: str, plan: Plan, cohort: Cohort) -> None:
        """Add the query to the eddy."""
        slot = self._free.pop() if self._free else len(self._queries)
        self._add(query, plan, slot)

    def _add(self, query: str, plan: Plan, slot: int) -> None:
        found = spj(plan)
        assert found is not None, "takes() said so"
        for leaf in plan.walk():
            if isinstance(leaf, StreamScan):
                self._eddy.know(leaf.source.name, leaf.source.schema)
        self._eddy.add(slot, self._guarded(query, found))
        before = sum((self._usage.get(use.stream, Usage()) for use in found.uses), Usage())
        self._queries[query] = _Query(plan, found, slot, before)

    def _guarded(self, query: str, found: SpjQuery) -> SpjQuery:
        def guard(expression: Expression) -> Expression:
            return self._guards.guard(query, expression)

        items = tuple(replace(item, expression=guard(item.expression)) for item in found.items)
        return replace(found, predicate=guard(found.predicate), items=items)

    def drop(self, query: str) -> None:
        """Remove the query from the eddy."""
        gone = self._queries.pop(query)
        self._eddy.drop(gone.slot)
        self._guards.forget(query)
        self._free.append(gone.slot)

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> Gained:
        """One pass for all queries."""
        if not self._queries:
            return Gained({}, {})
        began = perf_counter()
        batches = self._eddy.process(feeds, now).batches()
        names = {each.slot: name for name, each in self._queries.items()}
        gains = {names[slot]: batch for slot, batch in batches.items()}
        self._count(feeds, perf_counter() - began)
        return Gained(gains, self._guards.raised())

    def _count(self, feeds: Mapping[str, Batch], seconds: float) -> None:
        users: dict[str, int] = {}
        for each in self._queries.values():
            for stream in each.streams:
                users[stream] = users.get(stream, 0) + 1
        for stream, count in users.items():
            seen = len(feeds.get(stream, ()))
            each_of = Usage(seen, seen, seen / count, seconds / len(users) / count)
            self._usage[stream] = self._usage.get(stream, Usage()) + each_of
            self.total += Usage(seen, seen * count, float(seen), seconds / len(users))

    def usage(self, query: str) -> Usage:
        """The query's share of its streams' cost since it was added."""
        mine = self._queries[query]
        return sum((self._usage.get(use.stream, Usage()) for use in mine.query.uses), Usage()) - mine.before

    def stored(self, query: str) -> int:
        """The tuples in the eddy's SteMs and count windows, for all queries together; 0 if the query needs none."""
        uses = self._queries[query].query.uses
        needs = len(uses) > 1 or isinstance(uses[0].window, Rows)
        return self._eddy.stored if needs else 0

    def operators(self, query: str) -> list[tuple[str, int]]:
        """Its streams and the eddy, each with the number of queries that share it."""
        mine = self._queries[query]
        served = [(s, sum(s in other.streams for other in self._queries.values())) for s in mine.streams]
        return [*((f"source {stream}", count) for stream, count in served), ("Eddy", len(self._queries))]

    def snapshot(self) -> Tree:
        """The eddy, and the slots of its queries."""
        before = [each.before[:3] for each in self._queries.values()]
        return {
            "eddy": self._eddy.snapshot(),
            "slots": np.array([each.slot for each in self._queries.values()], dtype=np.int64),
            "before": np.array(before, dtype=np.float64).reshape(-1, 3),
            "usage": {stream: list(usage[:3]) for stream, usage in self._usage.items()},
            "total": list(self.total[:3]),
            "free": list(self._free),
        }

    def restore(self, tree: Tree, plans: Mapping[str, Plan], functions: Functions) -> None:
        """Build the eddy unless it has these queries, and go on."""
        if not self._queries:
            for (name, plan), slot in zip(plans.items(), tree["slots"].tolist(), strict=True):
                self._add(name, plan, slot)
        self._eddy.restore(tree["eddy"])
        self._free = list(tree["free"])
        self._usage = {stream: Usage(*counts) for stream, counts in tree["usage"].items()}
        self.total = Usage(*tree["total"])
        for each, (seen, alone, part) in zip(self._queries.values(), tree["before"].tolist(), strict=True):
            each.before = Usage(int(seen), int(alone), part)
