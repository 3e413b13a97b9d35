"""A flow engine driven through a history, with a literal account of what each of its queries has been shown."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hypothesis import note

from kernel.operators.feeds import Signed, contents, from_batch, to_batch
from reference.oracle.tables import close
from strategies.aggregates import USER_AGGREGATES
from strategies.catalog import N, R, S, T, U
from thalweg.algebra.codec import Functions
from thalweg.algebra.expressions import UserAggregate
from thalweg.algebra.plan import Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import Landmark, PartitionedRows, Rows, Unbounded, ValueRange, Window
from thalweg.core.rows import Arrival, Change
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.flows.engine import FlowEngine
from thalweg.flows.standing import Quotas, Standing
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

SOURCES = {source.name: source for source in (S, T, U, R, N)}
TABLES = (R.name, N.name)
LATER = 25  # ticks in which every drawn window has slid on

Event = tuple[Instant, str, Arrival | Change]


def events_of(history: History) -> list[Event]:
    """All that happens, in order of time."""
    happened: list[Event] = [(a.ts, name, a) for name in SOURCES for a in history.stream(name)]
    happened += [(u.t, name, u) for name in TABLES for u in history.updates(name)]
    return sorted(happened, key=lambda event: event[0])


@dataclass
class Shown:
    """A query, what it was shown, and what it said."""

    plan: Plan
    since: Instant
    start: Instant
    seen: History
    said: list[Signed] = field(default_factory=list)
    until: Instant = FOREVER
    asked: bool = False  # whether it has been given a batch

    def check(self, end: Instant) -> None:
        """At every instant of its life the query's answer is that of the reference over what it was shown."""
        reference = Reference(self.plan, self.seen, self.start)
        last = min(self.until, end)
        for t in sorted({*reference.instants(last), self.since, last} - {BEGINNING}):
            if self.since <= t <= last:
                wanted, got = reference.answer(t), Counter(dated.row for dated in contents(self.said, t))
                note(f"t={t}: reference {wanted}, flow {got}")
                assert close(wanted, got)


class Driven:
    """Commands and events, given to an engine and recorded by hand."""

    def __init__(self, most_held: int = 1_000, aggregates: Iterable[UserAggregate] = ()) -> None:
        self._functions = Functions.of([*USER_AGGREGATES, *aggregates])
        self._most = most_held
        self.engine = self._engine()
        self.now: Instant = BEGINNING
        self.live: dict[str, Shown] = {}
        self.gone: list[Shown] = []
        self.held: dict[str, list[Arrival]] = {}
        self._updates: list[Event] = []

    def _engine(self) -> FlowEngine:
        engine = FlowEngine(most_held=self._most, functions=self._functions)
        engine.know_tables(*TABLES)
        return engine

    def add(self, id_: str, plan: Plan, backfill: bool = False, quotas: Quotas | None = None) -> None:
        self._let_go()
        held = self.held if backfill else {}
        start = min([self.now, *(a.ts for some in held.values() for a in some)])
        seen = History()
        for name, arrivals in held.items():
            for arrival in arrivals:
                seen.arrive(name, arrival.ts, arrival.row)
        for event in self._updates:
            _apply(seen, event)
        self.engine.add(Standing(id_, plan, backfill=backfill, quotas=quotas or Quotas()), self.now)
        self.live[id_] = Shown(plan, self.now, start, seen)

    def drop(self, id_: str, until: Instant | None = None) -> None:
        self.engine.drop(id_)
        shown = self.live.pop(id_)
        shown.until = (self.now if until is None else until) if shown.asked else BEGINNING
        self.gone.append(shown)

    def step(self, events: list[Event], now: Instant) -> None:
        """One batch."""
        for event in events:
            if event[1] in TABLES:
                self._updates.append(event)
            elif isinstance(event[2], Arrival):
                self.held.setdefault(event[1], []).append(event[2])
            for shown in self.live.values():
                _apply(shown.seen, event)
        self.engine.forget_strings()
        feeds: dict[str, list[Signed]] = {}
        for t, name, what in events:
            sign = what.sign if isinstance(what, Change) else 1
            feeds.setdefault(name, []).append(Signed(what.row, t, FOREVER, sign, t, FOREVER))
        batches = {
            name: to_batch(tuples, SOURCES[name].schema, self.engine.pool, dated=False)
            for name, tuples in feeds.items()
        }
        for id_, batch in self.engine.process(batches, now).items():
            shown = self.live[id_]
            assert (batch.start >= max(self.now, shown.since)).all(), "what is past has been changed"
            shown.said += from_batch(batch, shown.plan.schema, self.engine.pool, dated=False)
        for id_ in self.engine.suspended.keys() & self.live.keys():
            self.drop(id_, until=self.now - 1)  # its last instant may have been open
        for shown in self.live.values():
            shown.asked = True
        self.now = now
        self._let_go()

    def restart(self) -> None:
        """Go on in another engine, as after a crash."""
        tree = pickle.loads(pickle.dumps(self.engine.snapshot()))
        self.engine = self._engine()
        self.engine.restore(tree)

    def check(self) -> None:
        self.step([], max(self.now, 0) + LATER)
        for shown in [*self.live.values(), *self.gone]:
            note(f"{shown.plan}\nsince {shown.since}")
            shown.check(self.now)

    def _let_go(self) -> None:
        """docs/flows.md, "Backfill", word for word."""
        for name, arrivals in self.held.items():
            windows = {window for shown in self.live.values() for window in _windows(shown.plan, name)}
            reached = {a.seq for window in windows for a in _reached(window, arrivals, self.now)}
            self.held[name] = [a for a in arrivals if a.seq in reached][-self._most :]


def _apply(history: History, event: Event) -> None:
    t, name, what = event
    if isinstance(what, Arrival):
        history.arrive(name, t, what.row)
    else:
        (history.insert if what.sign > 0 else history.delete)(name, t, what.row)


def _windows(plan: Plan, stream: str) -> Iterable[Window]:
    for node in plan.walk():
        if isinstance(node, Windowed) and any(
            isinstance(p, StreamScan) and p.source.name == stream for p in node.walk()
        ):
            below = node.child
            while isinstance(below, Select):
                below = below.child
            if isinstance(below, StreamScan):
                yield node.window
            elif isinstance(node.window, PartitionedRows):
                yield Rows(node.window.count)
            elif not isinstance(node.window, ValueRange):
                yield node.window


def _reached(window: Window, arrivals: list[Arrival], now: Instant) -> list[Arrival]:
    """What the window shows now or will show if nothing more arrives; for ROWS ... SLIDE also what waits for more."""
    if isinstance(window, Landmark | Unbounded) or not arrivals:
        return []
    if isinstance(window, Rows):
        return arrivals[-(window.count + window.slide - 1) :]
    seqs = {a.seq for t in range(now, now + LATER) for a in window.contents(arrivals, t)}
    return [a for a in arrivals if a.seq in seqs]
