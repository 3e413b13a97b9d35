"""Golden checkpoints of flow engines whose eddies route tuples by each of the policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden.archive import Case
from golden.cases import TICKS
from golden.functions import KNOWN
from golden.happenings import Event, bag_rows, batches, drawn, history, larger, read_events
from golden.queries import AFTERWARDS, catalog_of
from golden.shown import Shown, compare, right_answers
from kernel.operators.feeds import Signed, to_batch
from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.codec import catalog_tree, from_json, read_catalog, to_json
from thalweg.algebra.plan import Plan
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.cql import compile_query
from thalweg.flows.backends import CommonPlansBackend
from thalweg.flows.eddy_backend import EddyBackend
from thalweg.flows.engine import FlowEngine
from thalweg.flows.standing import Standing
from thalweg.runtime.distributed.checkpoint.store import ShardStore

POLICIES = ("tickets", "back-pressure", "random", "fixed")
SOURCES = ("s", "t", "u", "b")
QUERIES = {
    "selected": "SELECT k, name FROM s [RANGE 9] WHERE v > 1 AND x < 2.0 AND name <> 'b'",
    "same": "SELECT k, v FROM s [RANGE 5] WHERE v > 1 OR even(k)",
    "joined": "SELECT s.k, t.v, u.v AS w FROM s [RANGE 7] JOIN t [RANGE 9] ON s.k = t.k JOIN u [RANGE 4] ON t.v = u.v",
    "rows": "SELECT t.k, u.v FROM t [ROWS 6] JOIN u [ROWS 9] ON t.k = u.k",
    "counted": "SELECT k, COUNT(*) AS n FROM s [RANGE 9] GROUP BY k",
    "tabled": "SELECT s.k, b.w FROM s [RANGE 9] JOIN b ON s.k = b.k",
}
HELD = "SELECT k, v FROM s [RANGE 6]"  # is added last, with what the flow holds
AFTER = "SELECT s.v, b.w FROM s [RANGE 5] JOIN b ON s.k = b.k"  # the same, after the checkpoint


class Engine:
    """A flow engine, and what its queries have shown."""

    def __init__(self, policy: str, catalog: Catalog, plans: Mapping[str, Plan]) -> None:
        self.engine = FlowEngine(
            lambda pool, tables: [EddyBackend(pool, policy), CommonPlansBackend(pool, tables)], functions=KNOWN
        )
        self.engine.know_tables("b")
        self._catalog, self._plans = catalog, plans
        self.shown: dict[str, Shown] = {}

    def run(self, events: Sequence[Event], now: Instant) -> None:
        """One batch."""
        self.engine.forget_strings()
        feeds: dict[str, list[Signed]] = {}
        for t, source, sign, row in events:
            feeds.setdefault(source, []).append(Signed(row, t, FOREVER, sign or 1, t, FOREVER))
        inputs = {name: to_batch(some, self._schema(name), self.engine.pool, False) for name, some in feeds.items()}
        for query, batch in self.engine.process(inputs, now).items():
            self.shown.setdefault(query, Shown(self._plans[query].schema)).add(batch, self.engine.pool)

    def _schema(self, name: str) -> Any:
        entry = self._catalog.get(name)
        assert isinstance(entry, Stream | Relation)
        return entry.schema


def write(policy: str, folder: Path, name: str = "") -> Case:
    """Run an engine up to the checkpoint; it is taken right after a query was added."""
    catalog = catalog_of(TICKS)
    plans = {name: compile_query(cql, catalog) for name, cql in (QUERIES | {"held": HELD, "after": AFTER}).items()}
    cut = batches(drawn(catalog, SOURCES, 120, "engines"), 5)
    middle = len(cut) * 3 // 5
    run = Engine(policy, catalog, plans)
    for name in QUERIES:
        run.engine.add(Standing(name, plans[name], QUERIES[name]), BEGINNING)
    for events in cut[:middle]:
        run.run(events, events[-1].t)
    now = run.engine.now
    run.engine.add(Standing("held", plans["held"], HELD, backfill=True), now)
    ShardStore(folder).save(0, run.engine.snapshot())
    case: Case = {
        "of": "engine", "name": name or f"engine-{policy}", "policy": policy, "catalog": catalog_tree(catalog),
        "plans": {name: to_json(plan) for name, plan in plans.items()}, "now": now,
        "before": cut[:middle], "after": larger(cut[middle:], 3), "end": cut[-1][-1].t + AFTERWARDS,
        "shown": {query: shown.intervals for query, shown in run.shown.items()},
    }  # fmt: skip
    right = {name: _right(case, plan, catalog) for name, plan in plans.items()}
    return case | {"answers": {q: [[t, bag_rows(bag)] for t, bag in bags.items()] for q, bags in right.items()}}


def go_on(case: Case, folder: Path) -> None:
    """Restore a checkpoint, go on, and compare the answers of all queries at every instant from then on."""
    catalog, plans = read_catalog(case["catalog"]), {q: from_json(plan, KNOWN) for q, plan in case["plans"].items()}
    run = Engine(case["policy"], catalog, plans)
    run.engine.restore(ShardStore(folder).load(0))
    run.shown = {query: Shown(plans[query].schema, before=intervals) for query, intervals in case["shown"].items()}
    run.engine.add(Standing("after", plans["after"], backfill=True), case["now"])
    for events in case["after"]:
        happened = read_events(events)
        run.run(happened, happened[-1].t)
    run.run([], case["end"])
    for query, plan in plans.items():
        compare(run.shown[query], _right(case, plan, catalog), case["answers"][query])


def _right(case: Case, plan: Plan, catalog: Catalog) -> dict[Instant, Any]:
    events = read_events([e for part in (case["before"], case["after"]) for batch in part for e in batch])
    return right_answers(plan, history(catalog, events), case["now"], case["end"])
