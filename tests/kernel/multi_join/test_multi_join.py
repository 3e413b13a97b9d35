"""Would catch a result that is missed, emitted twice or misdated, a comparison too many, or an order that sticks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Step, check, feeds
from strategies.effort import examples
from thalweg.algebra.expressions import TRUE, Call, Expression, and_, call, column, function, literal
from thalweg.algebra.plan import join_graph
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.stream_statistics import StreamStatistics
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.kernel.multi_join import MultiJoin, ranks
from thalweg.kernel.state.buffers import FifoBuffer, KeyedBuffer
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.optimizer.join_orders import Algorithm, CostModel, choose_orders
from thalweg.reference import operators as reference

A = Schema.of(k=DataType.BIGINT, s=DataType.STRING)
B = Schema.of(k=DataType.BIGINT, x=DataType.DOUBLE)
C = Schema.of(s=DataType.STRING, k=DataType.BIGINT)
ALL = A + B + C
KA, SA, KB, XB, SC, KC = (column(ALL, i) for i in range(6))
CONDITIONS: dict[str, Expression] = {
    "one attribute": and_([call("=", KA, KB), call("=", KB, KC)]),
    "a chain of attributes": and_([call("=", KA, KB), call("=", SA, SC)]),
    "an attribute of two values": and_([call("=", KA, KC), call("=", SA, SC), call("=", KA, KB)]),
    "a cycle": and_([call("=", KA, KB), call("=", call("+", KB, literal(1)), KC), call("=", SA, SC)]),
    "two values of one input": and_([call("=", KA, XB), call("=", KB, KC), call("=", KA, KB)]),
    "an inequality of all": and_([call("=", KA, KB), call("<", call("+", KA, KB), KC)]),
    "something of one alone": and_([call("=", KA, KB), call("like", SC, literal("%a%"))]),
    "never": and_([call("=", KA, KB), literal(False)]),
    "all": TRUE,
}


def make(
    condition: Expression,
    schemas: Sequence[Schema],
    dated: bool,
    algorithm: Algorithm,
    indexed: bool,
    pool: StringPool,
    tuning: Tuning = DEFAULT,
) -> MultiJoin:
    some = frozenset(range(len(schemas))) if indexed else frozenset[int]()
    choose = partial(choose_orders, algorithm=algorithm, indexed=some)
    attributes = join_graph(condition, [0, *accumulate(map(len, schemas))]).attributes if indexed else ()
    lookups = [max(1, sum(i in a.inputs for a in attributes)) for i in range(len(schemas))]
    return MultiJoin(
        schemas, condition, pool, dated,
        buffers=[[KeyedBuffer(2, tuning=tuning) for _ in range(n)] for n in lookups], indexed=some, choose=choose,
        drift=1.5, tuning=tuning,
    )  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
@examples(40)
@given(
    steps=feeds(A, B, C, most=14),
    dated=st.booleans(),
    algorithm=st.sampled_from(list(Algorithm)),
    indexed=st.booleans(),
    piece=st.sampled_from([2, 1 << 16]),
    small=st.sampled_from([0, 1024]),
)
def test_the_reference_agrees(
    name: str, steps: list[Step], dated: bool, algorithm: Algorithm, indexed: bool, piece: int, small: int
) -> None:
    condition = CONDITIONS[name]
    tuning = Tuning(
        partials_at_once=piece,
        comparisons_at_once=piece,
        pairs_at_once=piece,
        results_at_once=piece,
        first_look_after=3,
        always_merge_runs_up_to=small,
        copy_matches_from_codes=1,
    )
    check(
        lambda pool: make(condition, [A, B, C], dated, algorithm, indexed, pool, tuning),
        [A, B, C],
        ALL,
        steps,
        lambda at, t: reference.multi_join([at(0, t), at(1, t), at(2, t)], condition),
        dated,
    )


KEY = Schema.of(k=DataType.BIGINT)


class Fed:
    """Four windows with one attribute, as in section 6.1: every tick a tuple of a stream drawn by its rate."""

    def __init__(
        self,
        streams: list[StreamStatistics],
        indexed: bool,
        order: tuple[int, ...] | None,
        extent: int,
        tuning: Tuning = DEFAULT,
    ) -> None:
        schemas = [KEY] * len(streams)
        every = Schema(tuple(field for part in schemas for field in part))
        equal = and_([call("=", column(every, 0), column(every, i)) for i in range(1, len(streams))])
        some = frozenset(range(len(streams))) if indexed else frozenset[int]()
        self.operator = MultiJoin(
            schemas, equal, StringPool(), False, buffers=[[FifoBuffer(tuning=tuning)] for _ in streams], indexed=some,
            choose=partial(choose_orders, algorithm=Algorithm.EAGER, indexed=some, given=order), drift=2.0,
            tuning=tuning,
        )  # fmt: skip
        self._streams, self._extent = streams, extent
        self._rng, self._at = np.random.default_rng(4), 0

    def feed(self, ticks: int) -> Batch:
        rates = np.array([s.rate for s in self._streams])
        source = self._rng.choice(len(rates), ticks, p=rates / rates.sum())
        ts = np.arange(self._at, self._at + ticks)
        self._at += ticks
        batches = []
        for i, stream in enumerate(self._streams):
            mine = ts[source == i]
            keys = self._rng.integers(0, int(stream.distinct[0] or 1), len(mine))
            batches.append(Batch((keys,), mine, mine + self._extent, np.ones(len(mine), dtype=np.int8)))
        return self.operator.process(batches, self._at - 1)


def test_comparisons_are_those_of_the_cost_model() -> None:
    drawn = [StreamStatistics(rate, 0, (v,)) for rate, v in ((4, 40), (1, 30), (1, 20), (2, 4))]
    extent, ticks = 800, 4000
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        fed = Fed(drawn, False, order, extent)
        for _ in range(extent // 20):
            fed.feed(20)  # a tuple or so at a time, as in the paper
        before = fed.operator.comparisons
        for _ in range(ticks // 20):
            fed.feed(20)
        streams = [StreamStatistics(s.rate / 8, s.rate / 8 * extent, s.distinct) for s in drawn]
        wanted = ticks * CostModel.nested_loops(streams).global_order(order)
        assert fed.operator.comparisons - before == pytest.approx(wanted, rel=0.1)


def test_a_hash_table_looks_at_partners_alone() -> None:
    fed = Fed([StreamStatistics(1, 0, (50,)) for _ in range(3)], True, None, 300)
    scan = Fed([StreamStatistics(1, 0, (50,)) for _ in range(3)], False, None, 300)
    assert len(fed.feed(1000)) == len(scan.feed(1000)) > 0
    assert 20 * fed.operator.comparisons < scan.operator.comparisons


def test_runs_that_are_merged_for_a_batch_hold_what_they_held() -> None:
    alike = [StreamStatistics(1, 0, (4,)) for _ in range(4)]
    many_runs = Tuning(always_merge_runs_up_to=0)  # and more partial results than tuples stored
    merging, scanning = (Fed(alike, indexed, None, 60, many_runs) for indexed in (True, False))
    for _ in range(12):
        ours, theirs = (_bag(fed.feed(20)) for fed in (merging, scanning))
        assert ours == theirs
    assert len(ours) > 100


def _bag(batch: Batch) -> list[tuple[int, ...]]:
    return sorted(zip(*(lane.tolist() for lane in (*batch.columns, batch.start, batch.end, batch.sign)), strict=True))


def test_orders_follow_the_rates_when_they_drift() -> None:
    fed = Fed([StreamStatistics(rate, 0, (30,)) for rate in (8, 1, 1)], False, None, 300)
    for _ in range(30):
        fed.feed(50)
    first = fed.operator.orders
    assert first[0][-1] != 0 and first[1][-1] == first[2][-1] == 0  # a large window is scanned last
    assert fed.operator.join_orders.count("|") == 2 and fed.operator.join_orders.startswith("S1,")
    fed._streams = [StreamStatistics(rate, 0, (30,)) for rate in (1, 1, 8)]
    for _ in range(90):
        fed.feed(50)
    assert fed.operator.orders != first and fed.operator.orders[0][-1] == 2


def test_cheap_predicates_come_before_expensive_ones() -> None:
    cheap, dear = call("<", KA, KB), call("like", SA, SC)
    assert ranks.rank(cheap) < ranks.rank(dear)
    assert ranks.rank(call("<>", KA, KB)) > ranks.rank(cheap)  # it drops less
    operator = make(and_([dear, cheap]), [A, B, C], False, Algorithm.EAGER, True, StringPool())
    whole = operator._planner.steps((0, 1, 2), None)
    assert [len(s.predicates) for s in whole] == [0, 1, 1]  # each as soon as its columns are there
    both = and_([call("like", SA, SC), call("<", KA, KC)])
    last = make(both, [A, B, C], False, Algorithm.EAGER, True, StringPool())._planner.steps((0, 1, 2), None)[-1]
    assert [applied.predicate for applied in last.predicates] == [call("<", KA, KC), call("like", SA, SC)]


def test_what_partners_have_in_common_is_computed_once() -> None:
    sum_ = call("+", call("+", KA, KB), KC)
    operator = make(call("<", sum_, literal(9)), [A, B, C], False, Algorithm.EAGER, True, StringPool())
    (last,) = operator._planner.steps((0, 1, 2), None)[-1].predicates
    assert last.known == [call("+", KA, KB)]
    (other,) = operator._planner.steps((0, 2, 1), None)[-1].predicates
    assert other.known == []  # no part reads only what was met before


def test_what_may_raise_waits_for_a_partner() -> None:
    @function(returns=int, takes=int)
    def risky(value: int) -> int:
        raise AssertionError(f"nobody asked for {value}")

    predicate = call("<", call("+", Call(risky, (KA,), DataType.BIGINT), KB), KC)
    operator = make(predicate, [A, B, C], False, Algorithm.EAGER, True, StringPool())
    (last,) = operator._planner.steps((0, 1, 2), None)[-1].predicates
    assert last.known == []


def test_keys_are_those_of_an_attribute_that_all_share() -> None:
    shared = make(CONDITIONS["one attribute"], [A, B, C], False, Algorithm.EAGER, True, StringPool())
    assert shared.keys == ((column(A, 0),), (column(B, 0),), (column(C, 1),))
    chain = make(CONDITIONS["a chain of attributes"], [A, B, C], False, Algorithm.EAGER, True, StringPool())
    assert chain.keys == ((), (), ())
