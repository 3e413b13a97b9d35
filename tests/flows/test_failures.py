"""Would catch a query whose failure is felt by others: with and without it, all others say the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from flows.driven import Driven, events_of
from flows.test_flow_engine import allowed
from kernel.operators.feeds import Signed, to_batch
from strategies.catalog import S, catalog
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import plans
from thalweg.algebra.expressions import Aggregate, Column, Literal, call
from thalweg.algebra.plan import GroupBy, NamedAggregate, Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import Rows
from thalweg.core.batch import Batch
from thalweg.core.errors import NameNotFoundError, OutOfOrderError, PlanError
from thalweg.core.time import FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.flows.engine import FlowEngine
from thalweg.flows.standing import Quotas, Standing


@tw.aggregate(returns=int)
def fragile(values: Sequence[object]) -> int:
    if len(values) >= 3:
        raise RuntimeError("three are too many")
    return len(values)


def breaking(child: Plan) -> Plan:
    """Fails over the third row."""
    return GroupBy(child, (), (NamedAggregate(Aggregate.of(fragile, Literal(1, DataType.BIGINT)), "f"),))


@examples(15)
@given(data=st.data())
def test_a_failure_is_not_felt_by_others(data: st.DataObject) -> None:
    shared = data.draw(plans(size=4).filter(lambda plan: allowed(plan) and allowed(breaking(plan))))
    other = data.draw(plans(size=3).filter(allowed))
    events = events_of(data.draw(histories(catalog(), max_size=24)))
    size = data.draw(st.sampled_from([3, 1, 7]), label="batch size")
    flow = Driven(aggregates=[fragile])
    few = Select(breaking(shared), call("<", Column(0, DataType.BIGINT), Literal(2, DataType.BIGINT)))
    for place, plan in enumerate((shared, breaking(shared), few, other)):
        flow.add(f"q{place}", plan, backfill=True)
    restart = data.draw(st.integers(0, len(events)), label="restart before event")
    for place in range(0, len(events), size):
        if place <= restart < place + size:
            flow.restart()
            flow.add("late", breaking(shared), backfill=True)  # fails when it is added, if so much is held
        flow.step(events[place : place + size], events[min(place + size, len(events)) - 1][0])
    flow.check()
    assert {"q0", "q3"} <= flow.live.keys()
    assert ("q1" in flow.live) == ("q2" in flow.live)


LAST = Windowed(StreamScan(S), Rows(9))


def test_a_failure_is_reported() -> None:
    flow = Driven(aggregates=[fragile])
    flow.add("good", LAST)
    flow.add("bad", breaking(LAST))
    feed_rows(flow.engine, 2, at=1)
    assert not flow.engine.suspended
    gained = feed_rows(flow.engine, 1, at=2)
    assert list(gained) == ["good"]
    (why,) = flow.engine.suspended.values()
    assert (why.at, why.seen, why.results) == (2, 3, 2)
    assert why.reason == "the aggregate FRAGILE raised RuntimeError over 3 values: three are too many"
    flow.restart()
    assert list(flow.engine.suspended.values()) == [why] and list(flow.engine.standing) == ["good"]
    flow.engine.drop("bad")
    assert not flow.engine.suspended


def feed_rows(engine: FlowEngine, rows: int, at: Instant) -> dict[str, Batch]:
    arrived = [Signed((1, 1), at, FOREVER, 1, at, FOREVER)] * rows
    return engine.process({"s": to_batch(arrived, S.schema, engine.pool, dated=False)}, at)


@pytest.mark.parametrize("size", [1, 2, 6])
def test_results_are_counted_by_the_second_and_in_all(size: int) -> None:
    flow = Driven(aggregates=[fragile])
    quotas = {"a": Quotas(results=6), "b": Quotas(results=5), "c": Quotas(results_per_second=2)}
    quotas |= {"d": Quotas(results_per_second=3), "e": Quotas(state=6), "f": Quotas(state=5)}
    for name, some in quotas.items():
        flow.add(name, LAST, quotas=some)
    times = [1, 2, 2, 2, 3, 4]  # three in the second second
    for place in range(0, len(times), size):
        batch = times[place : place + size]
        arrived = [Signed((1, 1), at, FOREVER, 1, at, FOREVER) for at in batch]
        flow.engine.process({"s": to_batch(arrived, S.schema, flow.engine.pool, dated=False)}, batch[-1])
        flow.restart()
    assert set(flow.engine.suspended) == {"b", "c", "f"}
    assert set(flow.engine.standing) == {"a", "d", "e"}


def test_commands_that_make_no_sense_are_refused() -> None:
    engine = FlowEngine()
    engine.add(Standing("q", LAST), 5)
    with pytest.raises(PlanError, match="there is a query q already"):
        engine.add(Standing("q", LAST), 5)
    with pytest.raises(OutOfOrderError, match="the flow cannot add p at 4: its clock is at 5"):
        engine.add(Standing("p", LAST), 4)
    with pytest.raises(OutOfOrderError, match="the flow cannot go on at 4"):
        engine.process({}, 4)
    with pytest.raises(NameNotFoundError, match="there is no query p\ncandidates: q"):
        engine.drop("p")
    with pytest.raises(PlanError, match="no backend can run q"):
        FlowEngine(backends=lambda pool, tables: []).add(Standing("q", LAST), 0)
    with pytest.raises(PlanError, match="there is no quota 'result'"):
        Quotas.read({"result": 3})
