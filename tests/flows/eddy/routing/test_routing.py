"""Would catch policies that do not route as the paper says, or whose choices do not follow from their seed."""

from __future__ import annotations

import numpy as np
import pytest

from thalweg.core.errors import PlanError
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy
from thalweg.flows.eddy.routing import BackPressure, Fixed, MakePolicy, RandomOrder, Tickets, Work, policy_maker
from thalweg.flows.eddy.routing.policy import SeededDraws
from thalweg_benchmarks.papers.madden_2002.queries import (
    ATTRIBUTES,
    TABLE_3,
    WORKLOAD_1,
    WORKLOAD_2,
    WORKLOAD_3,
    FedEddy,
    settled,
    where,
)

pytestmark = pytest.mark.slow


def optimal(seed: int) -> Fixed:
    return Fixed([f"s.{attribute}" for attribute in ATTRIBUTES])


def filters_per_tuple(policy: str | MakePolicy, skip: bool, chunk: int = 8, tuples: int = 10_000) -> float:
    flow = FedEddy(policy, skip, chunk)
    for slot, query in enumerate(TABLE_3):
        flow.eddy.add(slot, query)
    flow.feed(tuples // 2)  # settles
    return flow.visits(tuples)


def test_table_3_without_skipping() -> None:
    assert filters_per_tuple(optimal, skip=False) == pytest.approx(1.155, abs=0.02)
    assert filters_per_tuple("tickets", skip=False, chunk=1) <= 1.35
    assert filters_per_tuple("random", skip=False) == pytest.approx(3.2, abs=0.2)


def test_table_3_with_skipping_is_less_work() -> None:
    assert filters_per_tuple("random", skip=True) < filters_per_tuple("random", skip=False) - 0.3
    assert filters_per_tuple(optimal, skip=True) == pytest.approx(1.155, abs=0.02)
    assert filters_per_tuple("tickets", skip=True) <= 1.4


def test_tickets_settle_with_large_chunks_too() -> None:
    assert filters_per_tuple("tickets", skip=False, chunk=1024, tuples=150_000) < 1.7


def test_workload_1_the_most_selective_filter_has_most_tickets() -> None:
    shares = settled(WORKLOAD_1, between=4_000, after=40_000)
    assert sorted(shares, key=shares.__getitem__) == ["c", "a", "d", "b", "e"]
    assert shares["e"] > 1.2 * shares["b"]  # the next


def test_workload_2_the_filter_of_most_queries_has_most_tickets() -> None:
    shares = settled(WORKLOAD_2, between=4_000, after=40_000)
    assert sorted(shares, key=shares.__getitem__) == ["e", "d", "c", "b", "a"]
    assert shares["a"] > 2 * shares["b"]


@pytest.mark.parametrize("after", [4_000, 40_000])
def test_workload_3_selectivity_and_predicates_weigh_against_each_other(after: int) -> None:
    second = settled(WORKLOAD_2, between=4_000, after=after)
    shares = settled(WORKLOAD_3, between=4_000, after=after)
    bulk = [shares[a] for a in "abc"]
    assert sum(bulk) > 0.75 and max(bulk) < 1.5 * min(bulk)  # about the same
    assert shares["d"] > second["d"] and shares["e"] > second["e"]  # for they are more selective here


def test_a_filter_wins_tickets_with_tuples_that_leave() -> None:
    policy = Tickets(1)
    policy.learn(Work("passing", 10, 30, 10, 0.0, gone=0))  # other queries still want what it let few have
    policy.learn(Work("dropping", 10, 30, 25, 0.0, gone=4))
    assert policy.shares() == {"passing": 0.2, "dropping": 0.8}


def test_a_new_filter_finds_its_place() -> None:
    flow = FedEddy("tickets", skip=False, chunk=16)
    for slot, query in enumerate(WORKLOAD_1[:4]):
        flow.eddy.add(slot, query)
    flow.feed(20_000)
    assert "e" not in flow.shares()
    flow.eddy.add(4, WORKLOAD_1[4])
    flow.feed(30_000)
    shares = flow.shares()
    assert max(shares, key=shares.__getitem__) == "e"


def test_tickets_follow_the_data() -> None:
    flow = FedEddy("tickets", skip=False, chunk=16)
    flow.eddy.add(0, where(a=45, b=45))
    flow.feed(20_000, small="a")  # a lets one in ten pass, b more than half
    assert flow.shares()["a"] > 0.8
    flow.feed(60_000, small="b")
    assert flow.shares()["b"] > 0.8


def test_back_pressure_prefers_the_fast() -> None:
    policy = BackPressure(1)
    assert [policy.choose(["slow", "fast"])] == ["slow"]  # it has not been tried
    for _ in range(20):
        policy.learn(Work("slow", 100, 100, 50, 9e-3))
        policy.learn(Work("fast", 100, 100, 50, 1e-3))
    drawn = [policy.choose(["slow", "fast"]) for _ in range(1_000)]
    assert 0.85 < drawn.count("fast") / 1_000 < 0.95
    assert policy.shares()["fast"] == pytest.approx(0.9)
    for _ in range(60):
        policy.learn(Work("fast", 100, 100, 50, 81e-3))
    assert policy.shares()["slow"] > 0.85


def test_a_stem_that_multiplies_keeps_one_ticket() -> None:
    policy = Tickets(1)
    policy.learn(Work("stem", 10, 10, 500, 0.0))
    policy.learn(Work("filter", 10, 10, 1, 0.0))
    assert policy.shares() == {"stem": 0.1, "filter": 0.9}


@pytest.mark.parametrize("make", [Tickets, RandomOrder])
def test_choices_follow_from_the_seed_and_go_on_after_a_restart(make: MakePolicy) -> None:
    names = list(ATTRIBUTES)

    def choices(policy: Tickets | RandomOrder, count: int) -> list[str]:
        found = []
        for step in range(count):
            policy.begin(100)
            found.append(policy.choose(names))
            policy.learn(Work(found[-1], 100, 100, 10 * step % 70, 0.0))
        return found

    one, other, third = make(5), make(5), make(6)
    assert isinstance(one, Tickets | RandomOrder)
    assert isinstance(other, Tickets | RandomOrder) and isinstance(third, Tickets | RandomOrder)
    assert choices(one, 30) == choices(other, 30)
    tree = one.snapshot()
    after = choices(one, 30)
    third.restore(tree)
    assert choices(third, 30) == after


def test_draws_are_uniform() -> None:
    draws = SeededDraws(3)
    drawn = np.array([draws.below(10) for _ in range(10_000)])
    assert np.bincount(drawn.astype(int), minlength=10).min() > 850 and drawn.min() >= 0 and drawn.max() < 10


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(PlanError, match="no routing policy 'best'") as refused:
        Eddy({}, StringPool(), "best")
    assert "tickets" in refused.value.candidates
    assert policy_maker("random")(1).choose(["only"]) == "only"
