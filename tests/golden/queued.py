"""Golden checkpoints of queries whose operators have queues between them, taken in the middle of an instant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from golden.archive import Case
from golden.functions import KNOWN
from golden.happenings import Event, bag_rows, history, read_events
from golden.queries import QueryCase, catalog_of, described, planned
from golden.shown import Shown, compare, right_answers
from thalweg.algebra.codec import from_json, read_catalog
from thalweg.core.batch import Batch
from thalweg.core.time import BEGINNING, Instant
from thalweg.kernel.pipeline.blueprint import Blueprint
from thalweg.runtime.distributed.checkpoint.store import ShardStore
from thalweg.runtime.local.queued_run import QueuedRun

STEPS = 3  # of the scheduler, in the instant of the checkpoint


class Run(QueuedRun):
    """A run that can stop while items wait in its queues."""

    def __init__(self, blueprint: Blueprint, shown: Sequence[Any]) -> None:
        self.shown = Shown(blueprint.plan.schema, before=shown)
        super().__init__(blueprint.plan, BEGINNING, blueprint.strategy, 2, blueprint.settings)

    def _show(self, batch: Batch, now: Instant) -> None:
        super()._show(batch, now)
        self.shown.intervals += [
            (row, max(start, now), end, sign) for row, start, end, sign in self._intervals(batch) if end > now
        ]

    def _intervals(self, batch: Batch) -> list[Any]:
        of_batch = Shown(self._pipeline.schema, self._pipeline.pool)
        of_batch.add(batch)
        return of_batch.intervals

    def feed_one(self, event: Event) -> None:
        if event.sign:
            self.table_changed(event.source, event.t, event.sign, event.row)
        else:
            self.arrive(event.source, event.t, event.row)

    def feed(self, events: Sequence[Event]) -> None:
        for event in events:
            self.feed_one(event)
        self._settle(events[-1].t)

    def begin_instant(self, events: Sequence[Event]) -> None:
        """Put tuples into the queues, and let some operators work."""
        now = events[-1].t
        self._wake(now)
        for event in events:
            self.feed_one(event)
        for due in self._feeder.due(now):
            self._network.arrive(self._feeder.batches([due]), now)
        for _ in range(STEPS):
            self._work()

    def finish_instant(self, now: Instant) -> None:
        self._run(now)

    def save(self) -> Any:
        return {"network": self._network.snapshot(), "view": self._view.snapshot()}

    def load(self, tree: Any) -> None:
        self._network.restore(tree["network"])
        self._view.restore(tree["view"])

    def end(self, now: Instant) -> None:
        self._settle(now)


def write(asked: QueryCase, folder: Path) -> Case:
    """Run a query up to the checkpoint."""
    catalog = catalog_of(asked.script)
    plan = planned(asked.cql, catalog, asked.is_flat)
    case = described(asked, catalog, plan, asked.name)
    open_ = [event for event in case["after"][0] if event.t == case["after"][0][0].t]
    case["after"][0] = case["after"][0][len(open_) :]
    case["before"].append(open_)
    run = Run(from_json(case["blueprint"], KNOWN), [])
    for events in case["before"][:-1]:
        run.feed(events)
    run.begin_instant(open_)
    ShardStore(folder).save(0, run.save())
    right = right_answers(plan, history(catalog, _all_events(case)), open_[-1].t, case["end"])
    return case | {
        "of": "queued",
        "now": open_[-1].t,
        "shown": run.shown.intervals,
        "answers": [[t, bag_rows(bag)] for t, bag in right.items()],
    }


def go_on(case: Case, folder: Path) -> None:
    """Restore a checkpoint, go on, and compare the answer at every instant from then on."""
    blueprint = from_json(case["blueprint"], KNOWN)
    run = Run(blueprint, [])
    run.shown = Shown(blueprint.plan.schema, before=case["shown"])
    run.load(ShardStore(folder).load(0))
    run.finish_instant(case["now"])
    for events in filter(None, case["after"]):
        run.feed(read_events(events))
    run.end(case["end"])
    past = history(read_catalog(case["catalog"]), _all_events(case))
    compare(run.shown, right_answers(blueprint.plan, past, case["now"], case["end"]), case["answers"])


def _all_events(case: Case) -> list[Event]:
    return read_events([event for part in (case["before"], case["after"]) for events in part for event in events])
