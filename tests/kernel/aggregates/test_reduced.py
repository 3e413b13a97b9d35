"""Would catch: an event that is lost or counted twice when events are added up, a sum that is rounded on the way, a
group that stays because a sum of its ends is pending, or goes although one is, an estimate that is far off.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.feeds import Step, check, feeds, pieces_of
from strategies.effort import examples
from thalweg.algebra.expressions import AGGREGATES, Aggregate, column
from thalweg.algebra.plan import Named, NamedAggregate
from thalweg.core.batch import Batch
from thalweg.core.schema import Field, Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import FOREVER
from thalweg.core.types import DataType
from thalweg.kernel.aggregates import reduced
from thalweg.kernel.aggregates.moments import POWERS
from thalweg.kernel.aggregates.reduced import ROWS, SUM, ReducedEvents
from thalweg.kernel.operators.group_by import GroupBy
from thalweg.reference import operators as reference

SCHEMA = Schema.of(k=DataType.BIGINT, v=DataType.BIGINT, x=DataType.DOUBLE)
PROGRESSIVE = [(Aggregate.of("count"), None)] + [
    (Aggregate.of(function, column(SCHEMA, i)), i)
    for function in POWERS
    for i, field in enumerate(SCHEMA)
    if field.type in AGGREGATES[function]
]


@pytest.mark.parametrize("direct", [False, True], ids=["any ends", "known ends"])
@examples(60)
@given(data=st.data())
def test_the_reference_agrees_when_all_events_are_added_up(direct: bool, data: st.DataObject) -> None:
    steps = data.draw(feeds(SCHEMA, direct=direct, most=14))
    keys = data.draw(st.sampled_from([(0,), (), (2,)]))
    aggregates = data.draw(st.lists(st.sampled_from(PROGRESSIVE), min_size=1, max_size=4))
    named = [NamedAggregate(a, str(a)) for a, _ in aggregates]
    by = [Named(column(SCHEMA, i), SCHEMA[i].name) for i in keys]
    output = Schema(tuple(SCHEMA[i] for i in keys) + tuple(Field(n.name, n.aggregate.type) for n in named))
    unsettled = data.draw(st.sampled_from([0, 1 << 18]), label="changes that are worth adding up once more")
    with (
        patch.object(ReducedEvents, "pays", lambda *_: True),
        patch.object(reduced, "_UNSETTLED", unsettled),
    ):
        check(
            lambda pool: GroupBy(keys, aggregates, SCHEMA, pool, False, direct),
            [SCHEMA],
            output,
            [Step(-3, ([],)), *steps],
            lambda at, t: reference.group_by(at(0, t), by, named),
            dated=False,
        )


#  +[1, 7) v=5     +[1, 9) v=2     +[3, 7) v=2      now = 7
def test_events_of_a_group_and_instant_become_sums() -> None:
    events = ReducedEvents([1])
    group = np.zeros(3, dtype=np.int64)
    events.add(group, np.array([1, 1, 3]), np.array([7, 9, 7]), np.ones(3, dtype=np.int64), [np.array([5, 2, 2])])
    changes = events.due(7)
    assert changes is not None
    for quantity, wanted in ((ROWS, {1: 2, 3: 1, 7: -2}), (SUM, {1: 7, 3: 2, 7: -7})):
        found = changes.of(np.arange(len(changes.time)), quantity)
        assert dict(zip(changes.time[found.places].tolist(), found.amount.tolist(), strict=True)) == wanted
    assert len(events) == 3  # at 9: a row, a value, and their sum
    assert not events.is_idle(group[:1]).any()
    assert events.due(8) is None
    assert events.due(9) is not None and events.is_idle(group[:1]).all()


@pytest.mark.parametrize("distinct", [1, 100, 5_000, 60_000])
def test_few_groups_and_ends_are_recognised(distinct: int) -> None:
    rng = np.random.default_rng(1)
    pair = rng.integers(0, distinct, 100_000)
    code, end = pair % 7, 1_700_000_000_000_000 + 1_000 * (pair // 7)
    events, real = ReducedEvents([]), len(np.unique(pair))
    assert reduced._distinct(code, end) == pytest.approx(real, rel=0.05, abs=2)
    assert events.pays(code, end, 0) == (4 * real < len(pair))
    assert not events.pays(code, end, FOREVER - 1) and not events.pays(code, np.full(len(end), FOREVER), 0)


def test_the_state_of_a_hot_group_is_as_large_as_its_instants() -> None:
    operator = GroupBy([0], PROGRESSIVE[:3], SCHEMA, StringPool(), known_ends=True)
    rng = np.random.default_rng(1)
    rows = 200_000
    start = np.sort(rng.integers(0, 100, rows))
    columns = (np.full(rows, 7), rng.integers(-9, 9, rows), rng.normal(size=rows))
    batch = Batch(columns, start, 100 + rng.integers(0, 100, rows), np.ones(rows, dtype=np.int8))
    list(operator.pieces([pieces_of(batch, 50_000)], 99))
    assert operator.stored <= 1 + 100 * 4  # the group, and for each end its rows and the values of three arguments
    operator.process([batch.take(slice(0, 0))], 300)
    assert operator.stored == 0
