"""Would catch a query that sees what others have seen, or is disturbed by them: many together are as each alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.driven import Driven, events_of
from kernel.walk import differences
from strategies.catalog import catalog
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import OPERATORS, plans
from thalweg.algebra.expressions import Aggregate
from thalweg.algebra.plan import Distinct, GroupBy, IStream, NamedAggregate, Plan
from thalweg.core.errors import PlanError
from thalweg.core.types import DataType
from thalweg.patterns import check


def allowed(plan: Plan) -> bool:
    try:
        check(plan)
    except PlanError:
        return False
    return True


def _above(plan: Plan) -> list[Plan]:
    """Plans that have another one in common."""
    counted = GroupBy(plan, (), (NamedAggregate(Aggregate("count", None, False, DataType.BIGINT), "n"),))
    return [plan, Distinct(plan), IStream(plan), counted]


@st.composite
def plans_with_parts_in_common(draw: st.DrawFn, root: str) -> list[Plan]:
    some = [draw(plans(size=4, root=root)), draw(plans(size=3))]
    above = [above for plan in some for above in _above(plan)]
    return [*some, *draw(st.lists(st.sampled_from(above), max_size=3))]


@pytest.mark.parametrize("root", OPERATORS)
@examples(8)
@given(data=st.data())
def test_queries_that_come_and_go_are_as_each_alone(root: str, data: st.DataObject) -> None:
    chosen = data.draw(plans_with_parts_in_common(root).filter(lambda some: all(map(allowed, some))))
    events = events_of(data.draw(histories(catalog(), max_size=24)))
    size = data.draw(st.sampled_from([3, 1, 2, 7, 1000]), label="batch size")
    flow = Driven(data.draw(st.sampled_from([1_000, 2]), label="held at most"))
    commands = st.lists(st.sampled_from(["add", "backfill", "drop", "restart", "wait"]), max_size=3)
    for place in range(0, len(events) + size, size):
        for command in data.draw(commands, label="commands"):
            _obey(flow, command, data, chosen)
        batch = events[place : place + size]
        flow.step(batch, batch[-1][0] if batch else max(flow.now, 0))
    flow.check()


def _obey(flow: Driven, command: str, data: st.DataObject, chosen: list[Plan]) -> None:
    match command:
        case "add" | "backfill":
            plan = data.draw(st.sampled_from(chosen), label="plan")
            flow.add(f"q{len(flow.live) + len(flow.gone)}", plan, command == "backfill")
        case "drop" if flow.live:
            flow.drop(data.draw(st.sampled_from(sorted(flow.live)), label="dropped"))
        case "restart":
            flow.restart()
        case "wait":
            flow.step([], flow.now)


@examples(8)
@given(data=st.data())
def test_the_same_calls_give_the_same_state_and_output(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(plans(size=3).filter(allowed), min_size=2, max_size=4))
    events = events_of(data.draw(histories(catalog(), max_size=16)))
    half = len(events) // 2
    flows = [Driven(), Driven()]
    for flow in flows:
        for place, plan in enumerate(chosen):
            flow.add(f"q{place}", plan)
        for batch in (events[:half], events[half:]):
            flow.step(batch, batch[-1][0] if batch else flow.now)
            flow.drop(min(flow.live))
            flow.add(f"late{len(flow.gone)}", chosen[0], backfill=True)
        flow.step([], flow.now)
    one, other = flows
    assert not list(differences(one.engine.snapshot(), other.engine.snapshot()))
    assert [shown.said for shown in one.live.values()] == [shown.said for shown in other.live.values()]
