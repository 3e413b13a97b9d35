"""Would catch plans that are run twice, operators that outlive their queries, and state shared by who must not."""

from __future__ import annotations

import pickle

import pytest

from kernel.operators.feeds import Signed, from_batch, to_batch
from strategies.catalog import S, U
from thalweg.algebra.expressions import Aggregate, Column, Expression, Literal, call
from thalweg.algebra.plan import Distinct, GroupBy, Join, JoinKind, NamedAggregate, Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import Range, Rows
from thalweg.core.batch import Batch
from thalweg.core.errors import PlanError, SnapshotError
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.flows.common_plans import Cohort, SharedPipeline
from thalweg.kernel.pipeline import Strategy
from thalweg.kernel.pipeline.blueprint import Blueprint

K = Column(0, DataType.BIGINT)


def above(number: int, child: Plan) -> Plan:
    return Select(child, call(">", K, Literal(number, DataType.BIGINT)))


def counted(child: Plan) -> Plan:
    return GroupBy(child, (), (NamedAggregate(Aggregate("count", None, False, DataType.BIGINT), "n"),))


def equal(left: int, right: int) -> Expression:
    return call("=", Column(left, DataType.BIGINT), Column(right, DataType.BIGINT))


WINDOW = Windowed(StreamScan(S), Range(5))
LAST = Windowed(StreamScan(S), Rows(3))
SLIDING = Windowed(StreamScan(S), Range(4, 2))
JOINED = Join(WINDOW, LAST, equal(0, 2), JoinKind.INNER)


class Fed:
    """A pipeline that is fed numbers, one an instant."""

    def __init__(self) -> None:
        self.pipeline = SharedPipeline(StringPool(), dated=False)
        self.now: Instant = 0
        self._cohorts = 0
        self.said: dict[str, list[Signed]] = {}
        self.schemas: dict[str, Schema] = {}

    def cohort(self) -> Cohort:
        self._cohorts += 1
        return Cohort(self._cohorts, self.now, self.now)

    def add(self, cohort: Cohort, **plans: Plan) -> None:
        for name, plan in plans.items():
            self.pipeline.add(name, Blueprint(plan), cohort)
            self.said[name], self.schemas[name] = [], plan.schema

    def feed(self, *numbers: int) -> None:
        for number in numbers:
            self.now += 1
            arrived = [Signed((number, 0), self.now, FOREVER, 1, 0, 0)]
            batch: dict[str, Batch] = {"s": to_batch(arrived, S.schema, self.pipeline.pool, dated=False)}
            gained = self.pipeline.process(batch, self.now)
            assert not gained.errors
            for name, some in gained.gains.items():
                self.said[name] += from_batch(some, self.schemas[name], self.pipeline.pool, dated=False)

    def at(self, name: str, t: Instant) -> int:
        return sum(s.sign for s in self.said[name] if s.start <= t < s.end)


def test_equal_parts_of_plans_are_run_once() -> None:
    fed = Fed()
    born = fed.cohort()
    fed.add(born, a=Distinct(LAST), b=Distinct(LAST), c=above(0, Distinct(LAST)), d=LAST)
    assert [name for name, _ in fed.pipeline.operators("c")] == ["source s", "BaseStreamWindow", "Distinct", "Select"]
    assert [users for _, users in fed.pipeline.operators("c")] == [4, 4, 3, 1]
    assert len(fed.pipeline) == 4
    fed.feed(1, 1)
    assert fed.pipeline.usage("a") == fed.pipeline.usage("b")
    assert fed.pipeline.usage("a").saved > 0.5
    assert fed.pipeline.total.alone > fed.pipeline.total.part > 0


def test_what_nobody_needs_goes_away() -> None:
    fed = Fed()
    for _ in range(3):
        born = fed.cohort()
        fed.add(born, a=Distinct(LAST), b=JOINED, c=above(1, WINDOW))
        fed.feed(1, 2)
        fed.pipeline.drop("b")
        assert {name for q in "ac" for name, _ in fed.pipeline.operators(q)} == {
            "source s", "BaseStreamWindow", "Distinct", "LogicalWindowing", "Select",
        }  # fmt: skip
        assert len(fed.pipeline) == 5
        fed.pipeline.drop("a")
        fed.pipeline.drop("c")
        assert len(fed.pipeline) == 0


def test_what_remembers_is_shared_by_those_who_came_together_only() -> None:
    fed = Fed()
    fed.add(fed.cohort(), a=LAST, m=above(0, WINDOW), w=SLIDING)
    fed.feed(1, 2, 3)  # the third waits for the slide
    fed.add(fed.cohort(), b=LAST, o=above(0, WINDOW), x=SLIDING)
    fed.feed(4)
    assert [fed.at(name, fed.now) for name in "abmowx"] == [3, 1, 4, 1, 4, 1]
    users = {name: dict(fed.pipeline.operators(name)) for name in "abmo"}
    assert users["b"] == {"source s": 6, "BaseStreamWindow": 1}
    assert users["o"] == users["m"] == {"source s": 6, "LogicalWindowing": 2, "Select": 2}


def test_a_query_that_is_dropped_before_it_ran_leaves_nothing_to_its_twins() -> None:
    fed = Fed()
    born = fed.cohort()
    fed.add(born, a=JOINED)
    fed.pipeline.drop("a")
    fed.add(born, b=JOINED, n=counted(JOINED))
    fed.feed(1, 1)
    assert fed.at("n", 2) == 1 and fed.at("b", 2) == 4


def test_a_snapshot_is_the_same_each_time_and_fits_its_queries_only() -> None:
    fed = Fed()
    born = fed.cohort()
    fed.add(born, a=Distinct(LAST), b=JOINED)
    fed.feed(1, 2)
    fed.add(fed.cohort(), c=Distinct(LAST))
    tree = fed.pipeline.snapshot()
    assert pickle.dumps(tree) == pickle.dumps(fed.pipeline.snapshot())
    blueprints = {"a": Blueprint(Distinct(LAST)), "b": Blueprint(JOINED), "c": Blueprint(Distinct(LAST))}
    restored = SharedPipeline(StringPool(), dated=False)
    restored.restore(tree, blueprints)
    assert restored.usage("a") == fed.pipeline.usage("a")._replace(seconds=0.0)
    with pytest.raises(SnapshotError, match=r"of the operators source s, physical-window, logical-wind"):
        restored.restore(tree, blueprints | {"a": Blueprint(LAST)})


def test_queries_of_other_strategies_run_alone() -> None:
    pipeline = SharedPipeline(StringPool(), dated=False)
    with pytest.raises(PlanError, match="share operators run with strategy auto, not nt"):
        pipeline.add("a", Blueprint(LAST, Strategy.NT), Cohort(1, BEGINNING, BEGINNING))
    assert len(pipeline) == 0


def test_strings_are_known_by_the_same_codes_after_a_restore() -> None:
    pool = StringPool()
    pipeline = SharedPipeline(pool, dated=False)
    named = [
        Select(StreamScan(U), call("=", Column(2, DataType.STRING), Literal(word, DataType.STRING))) for word in "xy"
    ]
    for name, plan in zip("ab", named, strict=True):
        pipeline.add(name, Blueprint(plan), Cohort(1, 0, 0))
    pipeline.drop("a")
    fresh = StringPool()
    fresh.restore(pool.snapshot())
    restored = SharedPipeline(fresh, dated=False)
    restored.restore(pipeline.snapshot(), {"b": Blueprint(named[1])})
    new_tuples = to_batch([Signed((1, 0.5, word), 1, FOREVER, 1, 0, 0) for word in "xy"], U.schema, fresh, dated=False)
    assert [
        s.row[2] for s in from_batch(restored.process({"u": new_tuples}, 1).gains["b"], U.schema, fresh, False)
    ] == ["y"]
