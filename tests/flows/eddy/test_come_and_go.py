"""Would catch a query that sees tuples from before it came, or results of another one that had its bit or slot."""

from __future__ import annotations

import numpy as np
import pytest

from flows.eddy.drawn import SCHEMAS, Arrived, feeds
from strategies.catalog import S, T
from thalweg.algebra.expressions import call, column, literal
from thalweg.algebra.plan import Join, Named, Plan, Project, Select, StreamScan, Windowed
from thalweg.algebra.windows import Range, Rows, Window
from thalweg.core.errors import NameNotFoundError, PlanError, SnapshotError
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy, SpjQuery, Use, spj


def query(plan: Plan) -> SpjQuery:
    found = spj(plan)
    assert found is not None
    return found


def joined(window: Window, least: int = 0) -> SpjQuery:
    left, right = Windowed(StreamScan(S), window), Windowed(StreamScan(T), window)
    both = Join(left, right, call("=", column(S.schema, 0), column(S.schema + T.schema, 2)))
    return query(Select(both, call(">=", column(both.schema, 1), literal(least))))


def counts(eddy: Eddy, pool: StringPool, at: int, *streams: str) -> dict[int, int]:
    return eddy.process(feeds([Arrived(at, stream, (1, 1)) for stream in streams], pool), at).counts()


@pytest.mark.parametrize("window", [Range(1_000), Rows(1_000)])
def test_bits_are_used_again_and_never_see_what_was_before(window: Window) -> None:
    pool = StringPool()
    eddy = Eddy(SCHEMAS, pool)
    eddy.add(0, joined(window))
    for step in range(1, 200):
        eddy.add(step, joined(window, step % 2))
        found = counts(eddy, pool, step, "s", "t")
        # Slot 0 knows all tuples so far; the new ones only those of this step and, for the one before, the last.
        assert found[0] == 2 * step - 1 and found[step] == 1
        if step > 1:
            assert found.pop(step - 1) == 3
            eddy.drop(step - 1)
    assert len(eddy._sources["s"].space._segments) == 1 and eddy._sources["s"].space.width < 4


def test_many_queries_grow_their_group() -> None:
    pool = StringPool()
    eddy = Eddy(SCHEMAS, pool)
    for slot in range(300):
        eddy.add(slot, joined(Range(10 + slot), slot % 3))
        if slot == 150:
            assert len(counts(eddy, pool, 1, "s", "t")) == sum(n % 3 < 2 for n in range(151))
    assert counts(eddy, pool, 2, "s", "t") == {slot: 3 if slot <= 150 else 1 for slot in range(300) if slot % 3 < 2}
    late = counts(eddy, pool, 200, "s")
    assert set(late) == {slot for slot in range(300) if slot % 3 < 2 and 10 + slot > 198}


def test_a_slot_is_reused_at_once() -> None:
    pool = StringPool()
    eddy = Eddy(SCHEMAS, pool)
    eddy.add(3, joined(Range(50)))
    counts(eddy, pool, 1, "s", "s")
    eddy.drop(3)
    eddy.add(3, joined(Range(50)))
    assert counts(eddy, pool, 2, "t") == {}
    assert counts(eddy, pool, 3, "s") == {3: 1}


def test_what_no_window_needs_is_forgotten() -> None:
    pool = StringPool()
    eddy = Eddy(SCHEMAS, pool)
    eddy.add(0, joined(Range(5)))
    eddy.add(1, joined(Range(20)))
    for at in range(100):
        counts(eddy, pool, at, "s", "t")
    assert eddy.stored == 2 * 20
    eddy.drop(1)
    counts(eddy, pool, 100, "s", "t")
    assert eddy.stored == 2 * 5
    eddy.add(1, joined(Rows(3)))
    for at in range(101, 140):
        counts(eddy, pool, at, "s", "s", "t")
    assert eddy.stored == 10 + 5
    eddy.drop(0)
    counts(eddy, pool, 140, "s", "t")
    assert eddy.stored == 6
    eddy.drop(1)
    assert eddy.stored == 0 and not eddy._joining.stems


def test_a_filter_that_nobody_needs_goes() -> None:
    eddy = Eddy(SCHEMAS, StringPool())
    eddy.add(0, query(Select(StreamScan(S), call(">", column(S.schema, 0), literal(1)))))
    eddy.add(1, query(Select(StreamScan(S), call(">", column(S.schema, 0), column(S.schema, 1)))))
    assert {grouped.name for grouped in eddy._sources["s"].filters.values()} == {"s.k", "s.k > v"}
    eddy.drop(0)
    assert {grouped.name for grouped in eddy._sources["s"].filters.values()} == {"s.k > v"}


def test_the_order_of_uses_does_not_matter() -> None:
    eddy = Eddy(SCHEMAS, StringPool())
    left, right = Windowed(StreamScan(S), Range(3)), Windowed(StreamScan(T), Range(4))
    equal = call("=", column(S.schema, 0), column(S.schema + T.schema, 2))
    eddy.add(0, query(Join(left, right, equal)))
    eddy.add(1, query(Join(right, left, equal)))
    assert len(eddy._groups) == 1 and len(eddy._joining.stems) == 2
    rows = [Arrived(1, "s", (1, 0)), Arrived(2, "t", (1, 2))]
    batches = eddy.process(feeds(rows, StringPool()), 2).batches()
    assert [lane.tolist() for lane in batches[0].columns] == [[1], [0], [1], [2]]
    assert [lane.tolist() for lane in batches[1].columns] == [[1], [2], [1], [0]]
    assert batches[0].end.tolist() == batches[1].end.tolist() == [4]


def test_mistakes_are_named() -> None:
    eddy = Eddy(SCHEMAS, StringPool())
    eddy.add(2, joined(Range(5)))
    with pytest.raises(PlanError, match="slot 2 has a query already"):
        eddy.add(2, joined(Range(5)))
    with pytest.raises(NameNotFoundError, match="slot 1 has no query"):
        eddy.drop(1)
    with pytest.raises(PlanError, match="the eddy has no stream x"):
        eddy.add(1, SpjQuery((Use("x", Range(5)),), literal(True), ()))
    with pytest.raises(PlanError, match="windows that slide with every tick or row"):
        eddy.add(1, SpjQuery((Use("s", Range(4, 2)),), literal(True), ()))
    assert counts(eddy, StringPool(), 1, "s", "t") == {2: 1}


def test_a_snapshot_belongs_to_its_queries() -> None:
    eddy, other = Eddy(SCHEMAS, StringPool()), Eddy(SCHEMAS, StringPool())
    eddy.add(2, joined(Range(5)))
    other.add(2, joined(Range(6)))
    with pytest.raises(SnapshotError, match="here are others"):
        other.restore(eddy.snapshot())


def test_results_may_be_read_after_the_query_has_gone() -> None:
    pool = StringPool()
    eddy = Eddy(SCHEMAS, pool)
    plan = Project(StreamScan(S), (Named(column(S.schema, 1), "v"),))
    eddy.add(0, query(plan))
    delivered = eddy.process(feeds([Arrived(1, "s", (1, 7))], pool), 1)
    eddy.drop(0)
    for slot in range(1, 200):
        eddy.add(slot, query(StreamScan(S)))
        eddy.drop(slot)
    assert delivered.batches()[0].columns[0].tolist() == [7]
    assert delivered.slots().tolist() == [0] and np.array_equal(delivered.slots(), [0])


def test_a_bit_that_was_free_before_a_restart_is_clean_after_it() -> None:
    pool = StringPool()
    eddy, again = Eddy(SCHEMAS, pool), Eddy(SCHEMAS, pool)
    eddy.add(0, joined(Range(50)))
    eddy.add(1, joined(Range(50)))
    counts(eddy, pool, 1, "s")
    eddy.drop(0)
    again.add(1, joined(Range(50)))
    again.restore(eddy.snapshot())
    again.add(0, joined(Range(50)))
    assert counts(again, pool, 2, "t") == {1: 1}


@pytest.mark.parametrize("window", [Range(4), Rows(2)])
def test_tuples_of_a_step_come_in_the_order_of_their_times(window: Window) -> None:
    rows = [Arrived(at, "st"[at % 2], (1, at)) for at in range(10)]
    results = []
    for order in (rows, rows[::-1]):
        pool = StringPool()
        eddy = Eddy(SCHEMAS, pool)
        eddy.add(0, joined(window))
        batch = eddy.process(feeds(order, pool), 9).batches()[0]
        lanes = [*batch.columns, batch.start, batch.end, batch.sign]
        results.append(sorted(zip(*(lane.tolist() for lane in lanes), strict=True)))
    assert results[0] == results[1]
