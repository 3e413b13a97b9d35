"""Would catch pages that differ from lineage over all queries at once, for any predicate and whoever comes and goes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.eddy.drawn import feeds, some_arrivals
from flows.eddy.test_grouped_filter import selecting
from strategies.catalog import U
from strategies.conditions import a_predicate
from strategies.dice import Dice
from strategies.effort import examples
from thalweg.algebra.expressions import Expression, and_
from thalweg.core.strings import StringPool
from thalweg.flows.eddy import Eddy, EddyTuning, spj
from thalweg.kernel.sweep.evaluate import Condition
from thalweg_benchmarks.flows.workload import TupleBatches, a_stream, bands


def small_pages(sample: int) -> EddyTuning:
    """Pages of 64 queries, also where there are few."""
    return EddyTuning(pages_from_words=0, pages_up_to_bits=64, tuples_before_pages=sample, queries_per_page=64)


@examples(60)
@given(data=st.data())
def test_pages_give_what_each_predicate_gives(data: st.DataObject) -> None:
    dice, pool = Dice(data.draw), StringPool()
    eddy, running = Eddy({"u": U.schema}, pool, tuning=small_pages(sample=1)), dict[int, Expression]()
    for _ in range(4):
        for _ in range(dice.pick([0, 1, 3])):
            slot = max(running, default=0) + 1
            running[slot] = and_(dice.several(1, 3, lambda: a_predicate(dice, U.schema)))
            eddy.add(slot, selecting(running[slot]))
        if running and dice.chance(3):
            slot = dice.pick(list(running))
            eddy.drop(slot)
            del running[slot]
        batch = feeds([one for one in some_arrivals(dice, 20) if one.stream == "u"], pool).get("u")
        if batch is None:
            continue
        batches = eddy.process({"u": batch}, int(batch.start[-1])).batches()
        for slot, predicate in running.items():
            wanted = batch.take(Condition(predicate, U.schema, pool).holds(batch.columns, len(batch)))
            got = batches.pop(slot).columns if slot in batches else wanted.take(slice(0, 0)).columns
            for one, other in zip(got, wanted.columns, strict=True):
                assert np.array_equal(one, other, equal_nan=one.dtype == np.float64)
        assert not batches


@pytest.mark.parametrize("sample", [8, 200])
def test_many_queries_that_come_and_go(sample: int) -> None:
    stream = a_stream("s", 4)
    plans = bands(stream, 300, 5.0, np.random.default_rng(2))
    with_pages = Eddy({"s": stream.schema}, StringPool(), tuning=small_pages(sample))
    without = Eddy({"s": stream.schema}, StringPool())
    queries = [query for plan in plans if (query := spj(plan)) is not None]
    for eddy in (with_pages, without):
        for slot, query in enumerate(queries[:250]):
            eddy.add(slot, query)
    used = []
    for step, batch in zip(range(8), TupleBatches(stream, 400), strict=False):
        before = with_pages.found_by_pages
        found = with_pages.process({"s": batch}, int(batch.start[-1])).batches()
        used.append(with_pages.found_by_pages - before)
        wanted = without.process({"s": batch}, int(batch.start[-1])).batches()
        assert found.keys() == wanted.keys()
        assert all(np.array_equal(found[slot].columns[0], wanted[slot].columns[0]) for slot in found)
        if step == 3:
            for eddy in (with_pages, without):
                for slot in range(0, 250, 7):
                    eddy.drop(slot)
                for slot, query in enumerate(queries[250:], start=250):
                    eddy.add(slot, query)
    assert used == [0, *[400 - sample] * 3, 0, *[400 - sample] * 3]
    mine, theirs = (eddy.statistics() for eddy in (with_pages, without))
    assert (mine.tuples, mine.visits, mine.possible) == (theirs.tuples, theirs.visits, theirs.possible)
