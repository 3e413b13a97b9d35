"""Standing queries that come and go over the same streams: one pass over what arrives serves them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace

import numpy as np

from thalweg.algebra.codec import NO_FUNCTIONS, Functions
from thalweg.core.batch import Batch
from thalweg.core.errors import NameNotFoundError, OutOfOrderError, PlanError, ThalwegError
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, Instant
from thalweg.flows.backends import SharedPlans, Way
from thalweg.flows.common_plans import Birth, Usage
from thalweg.flows.eddy_backend import EddyPlans
from thalweg.flows.held import Held
from thalweg.flows.metrics import QueryMetrics
from thalweg.flows.result_counts import Tally
from thalweg.flows.standing import Standing, Suspension
from thalweg.flows.texts import Texts
from thalweg.kernel.state.snapshot import Tree

MOST_HELD = 1_000_000  # tuples of a stream, for queries that are added with backfill

MakeWays = Callable[[StringPool, Mapping[str, object]], Sequence[Way]]


class FlowEngine:
    """Runs the queries of a flow. What comes out depends on the calls alone, and not on when they are made.

    A query that raises, or exceeds a quota, is suspended: it gives nothing from that batch on, and the others go on as
    if it had not been there.
    """

    def __init__(
        self, ways: MakeWays | None = None, most_held: int = MOST_HELD, functions: Functions = NO_FUNCTIONS
    ) -> None:
        """`ways` to run queries, the first that takes a query runs it; by default those that select, project
        and join share an eddy, and all others operators. Queries of a snapshot may call some `functions` of users."""
        self.pool = StringPool()
        self.now: Instant = BEGINNING
        self.standing: dict[str, Standing] = {}  # that run, in the order in which they were added
        self.suspended: dict[str, Suspension] = {}
        self._tables: dict[str, object] = {}
        self._ways: list[Way] = [EddyPlans(self.pool), SharedPlans(self.pool, self._tables)]
        if ways is not None:
            self._ways = list(ways(self.pool, self._tables))
        self._way: dict[str, int] = {}
        self._tallies: dict[str, Tally] = {}
        self._most_held = most_held
        self._held = Held(most_held)
        self._births = 0
        self._open: dict[bool, Birth] = {}  # what queries added now are born with, with and without backfill
        self._newborn = False  # whether a query has been added since the last batch
        self._functions = functions
        self._texts = Texts(Standing.text)

    def know_tables(self, *names: str) -> None:
        """What is fed by these names are tables' updates; to be told before they are fed."""
        for name in names:
            self._tables[name] = None
            self._held.know_table(name)

    # -- commands

    def add(self, standing: Standing, now: Instant) -> None:
        """Let a query see what is fed from now on; with backfill, also what the flow holds."""
        if standing.id in self.standing or standing.id in self.suspended:
            raise PlanError(f"there is a query {standing.id} already", hint="drop it first, or take another id")
        self._check_time(f"add {standing.id}", now)
        birth = self._birth(standing.backfill, now)
        way = next((place for place, way in enumerate(self._ways) if way.takes(standing.plan, birth)), None)
        if way is None:
            raise PlanError(f"no way of running queries takes {standing.id}", hint="let SharedPlans be one of the ways")
        self._ways[way].add(standing.id, standing.plan, birth)
        self._way[standing.id] = way
        self.standing[standing.id] = replace(standing, since=now)
        self._texts.put(standing.id, self.standing[standing.id])
        self._tallies[standing.id] = Tally()
        self._held.enter(standing.plan, now)
        self.now, self._newborn = now, True

    def drop(self, query: str) -> None:
        """End a query, or forget one that is suspended."""
        if query in self.suspended:
            del self.suspended[query]
        elif query in self.standing:
            self._end(query)
        else:
            raise NameNotFoundError(f"there is no query {query}", candidates=[*self.standing, *self.suspended])

    def refuse(self, query: str, error: Exception) -> None:
        """Report a query as suspended that cannot even be added."""
        self.suspended[query] = Suspension(self.now, *_told(error))

    def process(self, feeds: Mapping[str, Batch], now: Instant) -> dict[str, Batch]:
        """What the answers of queries gained, for those that gained anything.

        `feeds` is all that streams and tables gained since the last call, up to and at `now`, without dates.
        """
        self._check_time("go on", now)
        if now == self.now and not self._newborn and not any(map(len, feeds.values())):
            return {}
        gains: dict[str, Batch] = {}
        errors: dict[str, Exception] = {}
        for way in self._ways:
            gained = way.process(feeds, now)
            gains |= gained.gains
            errors |= gained.errors
        self._held.take(feeds, now)
        self.now, self._newborn = now, False
        self._open.clear()
        for query, error in errors.items():
            self._suspend(query, *_told(error))
        for query, standing in list(self.standing.items()):
            exceeded = self._exceeded(standing, gains.get(query))
            if exceeded is not None:
                self._suspend(query, exceeded, "add it again with another quota, or a query that gives or holds less")
        return {query: batch for query, batch in gains.items() if query in self.standing}

    def _check_time(self, what: str, now: Instant) -> None:
        if now < self.now:
            raise OutOfOrderError(f"the flow cannot {what} at {now}: its time has come to {self.now}")

    def _birth(self, backfill: bool, now: Instant) -> Birth:
        """Queries that are added one after the other, with the same to see, are born together."""
        birth = self._open.get(backfill)
        if birth is None or birth.now != now:
            self._births += 1
            streams = self._held.streams(now) if backfill else {}
            start = min([now, *(int(tuples.start[0]) for tuples in streams.values())])
            birth = self._open[backfill] = Birth(self._births, start, now, streams | self._held.tables(start))
        return birth

    def _exceeded(self, standing: Standing, gained: Batch | None) -> str | None:
        most = standing.quotas.state
        if most is not None:
            stored = self._ways[self._way[standing.id]].stored(standing.id)
            if stored > most:
                return f"it holds {stored} tuples, its quota is {most}"
        return None if gained is None else self._tallies[standing.id].count(gained, standing)

    def _suspend(self, query: str, reason: str, hint: str | None) -> None:
        seen, results = self._ways[self._way[query]].usage(query).seen, self._tallies[query].results
        self.suspended[query] = Suspension(self.now, reason, hint, seen, results)
        self._end(query)

    def _end(self, query: str) -> None:
        self._ways[self._way.pop(query)].drop(query)
        self._held.leave(self.standing.pop(query).plan)
        del self._tallies[query]
        self._texts.drop(query)
        self._open.clear()

    # -- what is asked

    def metrics(self, query: str) -> QueryMetrics:
        """What a query that runs has seen, given and cost."""
        way = self._ways[self._way[query]]
        return QueryMetrics.of(query, way.usage(query), self._tallies[query].results, way.stored(query))

    def operators(self, query: str) -> list[tuple[str, int]]:
        """What runs for a query, inputs first, each with the number of queries that it serves."""
        return self._ways[self._way[query]].operators(query)

    @property
    def total(self) -> Usage:
        """What all queries have cost, those that have gone too."""
        return sum((way.total for way in self._ways), Usage())

    @property
    def streams(self) -> set[str]:
        """Those that queries read."""
        return self._held.read

    @property
    def held(self) -> dict[str, int]:
        """How many tuples the flow keeps for queries to come, by stream and table."""
        return self._held.sizes

    # -- taken down and set up again

    def snapshot(self) -> Tree:
        """All that the flow remembers between two batches, its queries included."""
        tallies = [(tally.results, tally.second, tally.in_second) for tally in self._tallies.values()]
        return {
            "pool": self.pool.snapshot(),
            "now": self.now,
            "births": self._births,
            "newborn": self._newborn,
            "tables": list(self._tables),
            "standing": self._texts.snapshot(),
            "way": np.array([self._way[query] for query in self.standing], dtype=np.int64),
            "tallies": np.array(tallies, dtype=np.int64).reshape(-1, 3),  # in the order of those that stand
            "suspended": {query: list(astuple(why)) for query, why in self.suspended.items()},
            "held": self._held.snapshot(),
            "ways": [way.snapshot() for way in self._ways],
        }

    def has_queries_of(self, tree: Tree) -> bool:
        """Whether the same queries stand as in a snapshot: then it is restored without building anything anew."""
        return bool(self.standing) and self._texts.is_as_in(tree["standing"])

    def restore(self, tree: Tree) -> None:
        """Go on from a snapshot, in an engine with the same ways that has just been made, or has the same queries."""
        self.pool.restore(tree["pool"])
        self.now, self._births, self._newborn = tree["now"], tree["births"], tree["newborn"]
        self._tables.update(dict.fromkeys(tree["tables"]))
        if not self.has_queries_of(tree):
            self.standing = self._texts.restore(tree["standing"], self._read)
        self._way = dict(zip(self.standing, tree["way"].tolist(), strict=True))
        self.suspended = {query: Suspension(*why) for query, why in tree["suspended"].items()}
        tallies = (Tally(*counts) for counts in tree["tallies"].tolist())
        self._tallies = dict(zip(self.standing, tallies, strict=True))
        self._held = Held(self._most_held)
        self._held.restore(tree["held"])
        self._held.live(standing.plan for standing in self.standing.values())
        self._open.clear()
        for place, (way, state) in enumerate(zip(self._ways, tree["ways"], strict=True)):
            plans = {query: standing.plan for query, standing in self.standing.items() if self._way[query] == place}
            way.restore(state, plans, self._functions)

    def _read(self, text: str) -> Standing:
        return Standing.read(text, self._functions)


def _told(error: Exception) -> tuple[str, str | None]:
    """What was wrong, and a way out."""
    if isinstance(error, ThalwegError):
        return error.message, error.hint
    return f"{type(error).__name__}: {error}", None
