"""The engine of a flow: standing queries come and go, and one pass over the input serves all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.core.batch import Batch
from thalweg.core.errors import NameNotFoundError, OutOfOrderError, PlanError, ThalwegError
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.flows.backends import Backend, CommonPlansBackend
from thalweg.flows.common_plans import Cohort, Usage
from thalweg.flows.eddy_backend import EddyBackend
from thalweg.flows.held import Held
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.standing import ResultCounts, Standing, Suspension
from thalweg.flows.texts import Texts
from thalweg.kernel.state.marking import forget_strings
from thalweg.kernel.state.snapshot import Tree

MOST_HELD = 1_000_000  # tuples held for each stream, for queries that are added later with backfill

MakeBackends = Callable[[StringPool, Mapping[str, object]], Sequence[Backend]]


class FlowEngine:
    """Runs the queries of a flow. Results depend on the calls alone, not on when they are made.

    A query that raises, or exceeds a quota, is suspended: it emits nothing from that batch on, and the other queries
    go on as if it had not been there.
    """

    def __init__(
        self, backends: MakeBackends | None = None, most_held: int = MOST_HELD, functions: Functions = NO_FUNCTIONS
    ) -> None:
        """The first of the `backends` that takes a query runs it. By default queries that select, project and join
        share an eddy, and all others share operators. `functions` are the users' functions that a snapshot may name."""
        self.pool = StringPool()
        self.now: Instant = BEGINNING
        self.standing: dict[str, Standing] = {}  # running queries, in order of addition
        self.suspended: dict[str, Suspension] = {}
        self._tables: dict[str, object] = {}
        self._backends: list[Backend] = [EddyBackend(self.pool), CommonPlansBackend(self.pool, self._tables)]
        if backends is not None:
            self._backends = list(backends(self.pool, self._tables))
        self._backend_of: dict[str, int] = {}
        self._result_counts: dict[str, ResultCounts] = {}
        self._most_held = most_held
        self._held = Held(most_held)
        self._cohorts = 0
        self._open: dict[bool, Cohort] = {}  # the cohort of queries added now, with and without backfill
        self._has_new = False  # whether a query was added since the last batch
        self._functions = functions
        self._texts = Texts(Standing.text)

    def know_tables(self, *names: str) -> None:
        """Declare that feeds of these names are updates of tables; call it before the first such feed."""
        for name in names:
            self._tables[name] = None
            self._held.know_table(name)

    # -- commands

    def add(self, standing: Standing, now: Instant) -> None:
        """Run a query over everything that is fed from now on; with backfill, also over the held tuples."""
        if standing.id in self.standing or standing.id in self.suspended:
            raise PlanError(f"there is a query {standing.id} already", hint="drop it first, or take another id")
        self._check_time(f"add {standing.id}", now)
        cohort = self._cohort(standing.backfill, now)
        number = next((i for i, each in enumerate(self._backends) if each.takes(standing.plan, cohort)), None)
        if number is None:
            raise PlanError(f"no backend can run {standing.id}", hint="add CommonPlansBackend to the backends")
        self._backends[number].add(standing.id, standing.plan, cohort)
        self._backend_of[standing.id] = number
        self.standing[standing.id] = replace(standing, since=now)
        self._texts.put(standing.id, self.standing[standing.id])
        self._result_counts[standing.id] = ResultCounts()
        self._held.enter(standing.plan, now)
        self.now, self._has_new = now, True

    def drop(self, query: str) -> None:
        """End a query, or forget one that is suspended."""
        if query in self.suspended:
            del self.suspended[query]
        elif query in self.standing:
            self._end(query)
        else:
            raise NameNotFoundError(f"there is no query {query}", candidates=[*self.standing, *self.suspended])

    def refuse(self, query: str, error: Exception) -> None:
        """Record a query that cannot even be added as suspended."""
        self.suspended[query] = Suspension(self.now, *_explained(error))

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> dict[str, Batch]:
        """By query, the changes of its answer; queries without changes are left out.

        `feeds` has all tuples of streams and updates of tables since the last call, up to and at `now`, without dates.
        """
        self._check_time("go on", now)
        if now == self.now and not self._has_new and not any(map(len, feeds.values())):
            return {}
        gains: dict[str, Batch] = {}
        errors: dict[str, Exception] = {}
        for backend in self._backends:
            gained = backend.process(feeds, now)
            gains |= gained.gains
            errors |= gained.errors
        self._held.take(feeds, now)
        self.now, self._has_new = now, False
        self._open.clear()
        for query, error in errors.items():
            self._suspend(query, *_explained(error))
        for query, standing in list(self.standing.items()):
            exceeded = self._exceeded(standing, gains.get(query))
            if exceeded is not None:
                self._suspend(query, exceeded, "add it again with a larger quota, or with fewer results or less state")
        return {query: batch for query, batch in gains.items() if query in self.standing}

    def forget_strings(self, *others: Any) -> None:
        """Now and then forget the strings that neither the flow names nor anything else that holds codes of its pool.

        To be called between batches, when nobody needs the last changes any more.
        """
        forget_strings(self.pool, self._backends, self._held, self._open, others)

    def _check_time(self, what: str, now: Instant) -> None:
        if now < self.now:
            raise OutOfOrderError(f"the flow cannot {what} at {now}: its clock is at {self.now}")

    def _cohort(self, backfill: bool, now: Instant) -> Cohort:
        """The cohort of a query added now: queries added without a batch in between, with equal backfill, share it."""
        cohort = self._open.get(backfill)
        if cohort is None or cohort.now != now:
            self._cohorts += 1
            streams = self._held.streams(now) if backfill else {}
            start = min([now, *(int(tuples.start[0]) for tuples in streams.values())])
            cohort = self._open[backfill] = Cohort(self._cohorts, start, now, streams | self._held.tables(start))
        return cohort

    def _exceeded(self, standing: Standing, gained: Batch | None) -> str | None:
        most = standing.quotas.state
        if most is not None:
            stored = self._backends[self._backend_of[standing.id]].stored(standing.id)
            if stored > most:
                return f"it stores {stored} tuples, its quota is {most}"
        return None if gained is None else self._result_counts[standing.id].count(gained, standing)

    def _suspend(self, query: str, reason: str, hint: str | None) -> None:
        seen, results = self._backends[self._backend_of[query]].usage(query).seen, self._result_counts[query].results
        self.suspended[query] = Suspension(self.now, reason, hint, seen, results)
        self._end(query)

    def _end(self, query: str) -> None:
        self._backends[self._backend_of.pop(query)].drop(query)
        self._held.leave(self.standing.pop(query).plan)
        del self._result_counts[query]
        self._texts.drop(query)
        self._open.clear()

    # -- questions

    def metrics(self, query: str) -> QueryMetrics:
        """What a running query has received, emitted and cost."""
        backend = self._backends[self._backend_of[query]]
        return QueryMetrics.of(backend.usage(query), self._result_counts[query].results, backend.stored(query))

    def operators(self, query: str) -> list[tuple[str, int]]:
        """The operators of a query, inputs first, each with the number of queries that share it."""
        return self._backends[self._backend_of[query]].operators(query)

    @property
    def total(self) -> Usage:
        """What all queries have cost, dropped ones included."""
        return sum((backend.total for backend in self._backends), Usage())

    @property
    def streams(self) -> set[str]:
        """The streams that queries read."""
        return self._held.read

    @property
    def held(self) -> dict[str, int]:
        """By stream and table, how many tuples the flow holds for queries that are added later."""
        return self._held.sizes

    # -- state

    def snapshot(self) -> Tree:
        """The flow's state between two batches, with its queries."""
        counts = [(each.results, each.second, each.in_second) for each in self._result_counts.values()]
        return {
            "pool": self.pool.snapshot(),
            "now": self.now,
            "cohorts": self._cohorts,
            "has_new": self._has_new,
            "tables": list(self._tables),
            "standing": self._texts.snapshot(),
            "backend": np.array([self._backend_of[query] for query in self.standing], dtype=np.int64),
            "counts": np.array(counts, dtype=np.int64).reshape(-1, 3),  # in the order of `standing`
            "suspended": {query: list(astuple(why)) for query, why in self.suspended.items()},
            "held": self._held.snapshot(),
            "backends": [backend.snapshot() for backend in self._backends],
        }

    def has_queries_of(self, tree: Tree) -> bool:
        """Whether a snapshot has the same queries; then `restore` builds no operators."""
        return bool(self.standing) and self._texts.is_as_in(tree["standing"])

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot, in an engine with the same backends that is new or has the same queries."""
        self.pool.restore(tree["pool"])
        self.now, self._cohorts, self._has_new = tree["now"], tree["cohorts"], tree["has_new"]
        self._tables.update(dict.fromkeys(tree["tables"]))
        if not self.has_queries_of(tree):
            self.standing = self._texts.restore(tree["standing"], self._read)
        self._backend_of = dict(zip(self.standing, tree["backend"].tolist(), strict=True))
        self.suspended = {query: Suspension(*why) for query, why in tree["suspended"].items()}
        counts = (ResultCounts(*counts) for counts in tree["counts"].tolist())
        self._result_counts = dict(zip(self.standing, counts, strict=True))
        self._held = Held(self._most_held)
        self._held.restore(tree["held"])
        self._held.live(standing.plan for standing in self.standing.values())
        self._open.clear()
        for place, (backend, state) in enumerate(zip(self._backends, tree["backends"], strict=True)):
            mine = [query for query in self.standing if self._backend_of[query] == place]
            backend.restore(state, {query: self.standing[query].plan for query in mine}, self._functions)

    def _read(self, text: str) -> Standing:
        return Standing.read(text, self._functions)


def _explained(error: Exception) -> tuple[str, str | None]:
    """The message of an error, and its hint."""
    if isinstance(error, ThalwegError):
        return error.message, error.hint
    return f"{type(error).__name__}: {error}", None
