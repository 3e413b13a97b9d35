"""Would catch an eddy that gives a query anything else than it would get alone, at any instant.

Policies, batches, chunks, skipping, queries that come and go meanwhile, and restarts from a snapshot must not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from flows.eddy.drawn import SCHEMAS, Arrived, a_plan, bag_at, feeds, some_arrivals
from reference.oracle.tables import close
from strategies.catalog import S, T
from strategies.dice import Dice
from strategies.effort import examples
from thalweg.algebra.expressions import TRUE, and_, call, column
from thalweg.algebra.plan import Join, MultiJoin, Plan, StreamScan, Windowed
from thalweg.algebra.windows import Range, Rows, Window
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import Instant
from thalweg.flows.eddy import Eddy, spj
from thalweg.flows.eddy.routing import POLICIES
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

AFTERWARDS = 10  # longer than any drawn window


@dataclass
class Running:
    """A query in the eddy: what it has seen, and what it was given."""

    plan: Plan
    seen: History = field(default_factory=History)
    given: list[Batch] = field(default_factory=list)


class Shared:
    """An eddy with its queries, which can be taken down and set up again."""

    def __init__(self, policy: str, skip: bool, chunk: int) -> None:
        self._made = (policy, skip, chunk)
        self.pool = StringPool()
        self.running: dict[int, Running] = {}
        self.ended: list[tuple[Running, Instant]] = []
        self.eddy = self._make()

    def _make(self) -> Eddy:
        policy, skip, chunk = self._made
        return Eddy(SCHEMAS, self.pool, policy, skip, 7, chunk=chunk)

    def add(self, slot: int, plan: Plan) -> None:
        query = spj(plan)
        assert query is not None
        self.eddy.add(slot, query)
        self.running[slot] = Running(plan)

    def drop(self, slot: int, now: Instant) -> None:
        self.eddy.drop(slot)
        self.ended.append((self.running.pop(slot), now))

    def process(self, arrived: list[Arrived], now: Instant) -> None:
        delivered = self.eddy.process(feeds(arrived, self.pool), now)
        batches = delivered.batches()
        assert delivered.counts() == {slot: len(batch) for slot, batch in batches.items()}
        for slot, batch in batches.items():
            assert (batch.start < batch.end).all() and batch.start.max() <= now
            self.running[slot].given.append(batch)
        for one in arrived:
            for running in self.running.values():
                running.seen.arrive(one.stream, one.ts, one.row)

    def restart(self) -> None:
        tree = self.eddy.snapshot()
        self.eddy = self._make()
        for slot in reversed(self.running):  # the order does not matter
            query = spj(self.running[slot].plan)
            assert query is not None
            self.eddy.add(slot, query)
        self.eddy.restore(tree)

    def check(self, end: Instant) -> None:
        for running, until in [*self.ended, *((running, end) for running in self.running.values())]:
            reference = Reference(running.plan, running.seen)
            for t in [t for t in reference.instants(until) if t <= until] + [until]:
                wanted, got = reference.answer(t), bag_at(running.given, running.plan.schema, self.pool, t)
                note(f"t={t}: reference {wanted}, eddy {got}")
                assert close(wanted, got), running.plan


@pytest.mark.parametrize("policy", sorted(POLICIES))
@examples(20)
@given(data=st.data())
def test_each_query_gets_what_it_would_get_alone(policy: str, data: st.DataObject) -> None:
    dice = Dice(data.draw)
    shared = Shared(policy, skip=dice.chance(2), chunk=dice.pick([1024, 1, 3]))
    arrived = some_arrivals(dice, 24)
    most = dice.pick([1, 3, 8, 100])
    for slot in range(dice.number(1, 3)):
        shared.add(slot, a_plan(dice))
    now, at = arrived[0].ts if arrived else 0, 0
    while at < len(arrived):
        batch = arrived[at : at + dice.number(0, most)]
        at += len(batch)
        now = batch[-1].ts if batch else now
        shared.process(batch, now)
        if dice.chance(5) and shared.running:
            shared.drop(dice.pick(list(shared.running)), now)
        if dice.chance(4) and len(shared.running) < 5:
            shared.add(min(set(range(6)) - set(shared.running)), a_plan(dice))
        if dice.chance(5):
            shared.restart()
    shared.process([], now + AFTERWARDS)
    shared.check(now + AFTERWARDS)


@examples(20)
@given(data=st.data())
def test_a_triangle_is_closed_whatever_the_order_of_the_walk(data: st.DataObject) -> None:
    """Three uses, each two of which share an attribute of their own; NULL closes no triangle."""
    dice = Dice(data.draw)
    shared = Shared(dice.pick(sorted(POLICIES)), skip=True, chunk=dice.pick([1024, 1]))
    windows: list[Window] = [Range(9), Rows(9)]
    inputs = [Windowed(StreamScan(dice.pick([S, T])), dice.pick(windows)) for _ in range(3)]
    columns = MultiJoin(tuple(inputs), TRUE).schema
    pairs = [(1, 2), (3, 4), (5, 0)]
    shared.add(0, MultiJoin(tuple(inputs), and_([call("=", *(column(columns, c) for c in pair)) for pair in pairs])))
    arrived = [
        Arrived(at, dice.pick(["s", "t"]), (dice.pick([0, 1, None]), dice.pick([0, 1, None])))
        for at in range(dice.number(1, 10))
    ]
    for one in arrived:
        shared.process([one], one.ts)
    shared.check(len(arrived) + AFTERWARDS)


@examples(20)
@given(data=st.data())
def test_a_stream_meets_itself_in_windows_that_count(data: st.DataObject) -> None:
    """One arrival may push a tuple out of two windows, or two tuples out of one window each."""
    dice = Dice(data.draw)
    shared = Shared("random", skip=True, chunk=1024)
    for slot in range(2):
        inputs = tuple(Windowed(StreamScan(S), Rows(dice.number(1, 3))) for _ in range(dice.number(2, 3)))
        columns = Schema(tuple(f for one in inputs for f in one.schema))
        equal = [call("=", column(columns, 0), column(columns, 2 * use)) for use in range(1, len(inputs))]
        plan = Join(*inputs, and_(equal)) if len(inputs) == 2 else MultiJoin(inputs, and_(equal))
        shared.add(slot, plan)
    at, most = 0, dice.pick([1, 2, 9])
    arrived = [Arrived(t, "s", (dice.pick([0, 0, 1]), t)) for t in range(dice.number(1, 9))]
    while at < len(arrived):
        batch = arrived[at : at + most]
        at += most
        shared.process(batch, batch[-1].ts)
    shared.check(len(arrived) + 1)
