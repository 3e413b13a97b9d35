"""Would catch a reference that depends on when it is asked: a missed instant, a stale cache, a stream that shrinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies.catalog import catalog_of
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import OPERATORS, cases, plans
from thalweg.algebra.plan import Plan
from thalweg.core.rows import Arrival, Change, Dated
from thalweg.core.time import FOREVER, Instant
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

AFTERWARDS = 14  # ticks after the last event: the longest drawn window has emptied
STREAMS = ["istream", "dstream", "rstream", "derived stream"]

quick = examples(40)


def dated(plan: Plan, history: History, t: Instant, start: Instant | None = None) -> Counter[Dated]:
    fresh = Reference(plan, history) if start is None else Reference(plan, history, start)
    return Counter(fresh.tuples(t))


@pytest.mark.parametrize("root", OPERATORS)
@quick
@given(data=st.data())
def test_nothing_changes_between_instants_and_nothing_outlives_its_exp(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root, max_size=12))
    reference = Reference(plan, history)
    end = history.last + AFTERWARDS if history.size else 0
    instants = set(reference.instants(end))
    before = reference.tuples(-5)
    for t in range(-4, end + 1):
        now = reference.tuples(t)
        assert all(d.ts <= t < d.exp for d in now), t
        assert t in instants or Counter(now) == Counter(before), t
        before = now
    assert reference.instants(end) == sorted(instants)


@pytest.mark.parametrize("root", STREAMS)
@quick
@given(data=st.data())
def test_a_stream_only_grows_and_dates_what_is_new_now(root: str, data: st.DataObject) -> None:
    plan, history = data.draw(cases(root=root, max_size=12))
    assert plan.is_stream
    reference = Reference(plan, history)
    before: Counter[Dated] = Counter()
    for t in reference.instants(history.last + AFTERWARDS):
        now = Counter(reference.tuples(t))
        assert before <= now, t
        assert all(d.ts == t for d in now - before), t
        before = now


@quick
@given(st.data())
def test_it_may_be_asked_at_any_time_while_the_history_grows(data: st.DataObject) -> None:
    plan = data.draw(plans())
    whole = data.draw(histories(catalog_of(plan)))
    growing = History()
    asked = Reference(plan, growing)
    for apply in data.draw(st.permutations(_events(plan, whole))):
        apply(growing)
        t = data.draw(st.integers(-4, 30))
        assert Counter(asked.tuples(t)) == dated(plan, growing, t)
        assert asked.instants(t) == Reference(plan, growing).instants(t)


@quick
@given(cases(), st.integers(-2, 12))
def test_a_start_is_a_history_in_which_nothing_was_before(case: tuple[Plan, History], start: Instant) -> None:
    plan, history = case
    cut = History()
    for stream in catalog_of(plan).streams:
        for ts, _, row in history.stream(stream.name):
            if ts >= start:
                cut.arrive(stream.name, ts, row)
    for relation in catalog_of(plan).relations:
        for t, sign, row in history.updates(relation.name):
            (cut.insert if sign > 0 else cut.delete)(relation.name, max(t, start), row)
    for t in (start - 1, *Reference(plan, history, start).instants(history.last + AFTERWARDS)):
        assert dated(plan, history, t, start) == dated(plan, cut, t), t


@quick
@given(cases(), st.integers(0, 20))
def test_the_future_does_not_reach_back(case: tuple[Plan, History], t: Instant) -> None:
    plan, history = case
    assume(history.last > t)
    past = History()
    for event in _events(plan, history, until=t):
        event(past)
    assert dated(plan, history, t) == dated(plan, past, t)


def _events(plan: Plan, history: History, until: Instant = FOREVER) -> list[Callable[[History], object]]:
    """The events of the plan's sources, to repeat in another history; a table's updates stay together, in order."""
    events: list[Callable[[History], object]] = []
    for stream in catalog_of(plan).streams:
        events += [partial(_arrive, stream.name, a) for a in history.stream(stream.name, until)]
    for relation in catalog_of(plan).relations:
        events.append(partial(_change, relation.name, history.updates(relation.name, until)))
    return events


def _arrive(stream: str, arrival: Arrival, history: History) -> None:
    history.arrive(stream, arrival.ts, arrival.row)


def _change(relation: str, updates: list[Change], history: History) -> None:
    for t, sign, row in updates:
        (history.insert if sign > 0 else history.delete)(relation, t, row)
