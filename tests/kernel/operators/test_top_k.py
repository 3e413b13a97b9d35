"""Catches a top-k that shows the wrong rows, breaks ties otherwise than by the row, or forgets one that must return."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.operators.drawn import ROWS as DRAWN
from kernel.operators.drawn import Timeline
from kernel.operators.feeds import Contents, Step, check, feeds
from strategies.effort import examples
from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import SortKey
from thalweg.core.batch import Batch
from thalweg.core.rows import Dated
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.core.types import DataType
from thalweg.kernel.operators.top_k import SortColumn, TopK
from thalweg.kernel.tuning import DEFAULT, Tuning
from thalweg.reference import operators as reference

ROWS = Schema.of(k=DataType.BIGINT, name=DataType.STRING, x=DataType.DOUBLE)
KEYS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), min_size=1, max_size=2)


@pytest.fixture(scope="module", params=["roomy", "tight"])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    """Also with so little room that a handful of tuples moves between near and far."""
    tight = Tuning(near_spare=0, near_factor=1, prune_above=0, skyband_part=1)
    return tight if request.param == "tight" else DEFAULT


def run(
    steps: list[Step],
    keys: Sequence[SortColumn],
    limit: int,
    tuning: Tuning,
    *,
    dated: bool,
    known_ends: bool = False,
) -> TopK:
    def make(pool: StringPool) -> TopK:
        return TopK(ROWS, keys, limit, pool, dated=dated, known_ends=known_ends, tuning=tuning)

    def model(contents: Contents, t: Instant) -> list[Dated]:
        plan_keys = [SortKey(Column(i, ROWS[i].type), *how) for i, *how in keys]
        return reference.top_k(contents(0, t), plan_keys, limit)

    operator = check(make, [ROWS], ROWS, steps, model, dated)
    assert isinstance(operator, TopK)
    return operator


@examples(100)
@given(steps=feeds(ROWS, most=16), keys=KEYS, limit=st.integers(0, 4))
def test_dated(tuning: Tuning, steps: list[Step], keys: list[SortColumn], limit: int) -> None:
    run(steps, keys, limit, tuning, dated=True)


@examples(100)
@given(steps=feeds(ROWS, most=16), keys=KEYS, limit=st.integers(0, 4))
def test_without_dates(tuning: Tuning, steps: list[Step], keys: list[SortColumn], limit: int) -> None:
    run(steps, keys, limit, tuning, dated=False)


@examples(100)
@given(steps=feeds(ROWS, direct=True, most=16), keys=KEYS, limit=st.integers(0, 4), dated=st.booleans())
def test_known_ends(tuning: Tuning, steps: list[Step], keys: list[SortColumn], limit: int, dated: bool) -> None:
    run(steps, keys, limit, tuning, dated=dated, known_ends=True)


def timeline(limit: int, tuning: Tuning, *, known_ends: bool = True) -> Timeline:
    pool = StringPool()
    operator = TopK(DRAWN, [(1, True, False)], limit, pool, dated=True, known_ends=known_ends, tuning=tuning)
    return Timeline(operator, pool)


def test_only_what_enters_and_leaves_is_emitted(tuning: Tuning) -> None:
    # The greatest number first. a5 |--------)   b7  |---)   c6   |------)
    line = timeline(1, tuning)
    assert line.feed(1, "+a5[1,9)") == "+a5[1,9)"
    assert line.feed(2, "+b7[2,5)") == "-a5[2,9) +b7[2,5)"
    assert line.feed(3, "+c6[3,9)") == ""
    assert line.feed(8, "") == "+c6[5,9)"
    assert line.feed(20, "") == ""
    assert line.operator.stored == 0


def test_within_a_batch_intervals_are_closed(tuning: Tuning) -> None:
    line = timeline(1, tuning)
    assert line.feed(8, "+a5[1,9) +b7[2,5) +c6[3,9)") == "+a5[1,2) +b7[2,5) +c6[5,9)"


def test_without_known_ends_negative_tuples_end_results(tuning: Tuning) -> None:
    line = timeline(1, tuning, known_ends=False)
    assert line.feed(1, "+a5[1,9)") == "+a5[1,F)"
    assert line.feed(9, "") == "-a5[9,F)"


@pytest.mark.parametrize("descending", [False, True])
def test_only_tuples_that_may_show_are_kept(tuning: Tuning, descending: bool) -> None:
    # 80,000 random numbers, all alive: the state grows with limit * log(tuples / limit).
    schema, limit, tuples = Schema.of(v=DataType.BIGINT), 5, 80_000
    operator = TopK(schema, [(0, descending, False)], limit, StringPool(), known_ends=True, tuning=tuning)
    ts, values = np.arange(tuples), np.random.default_rng(0).permutation(tuples)
    for part in np.split(np.arange(tuples), 8):
        batch = Batch((values[part],), ts[part], ts[part] + tuples, np.ones(len(part), dtype=np.int8))
        operator.process([batch], int(ts[part[-1]]))
    assert operator.stored < 1000


FROM_THE_BEGINNING = Batch(
    (np.array([3, 1, 2]),), np.full(3, BEGINNING), np.full(3, FOREVER), np.ones(3, dtype=np.int8)
)
ONE = Schema.of(k=DataType.BIGINT)


def first_two(tuning: Tuning) -> TopK:
    return TopK(ONE, [(0, False, False)], 2, StringPool(), tuning=tuning)


def test_what_a_table_holds_from_the_beginning_shows(tuning: Tuning) -> None:
    shown = first_two(tuning).process([FROM_THE_BEGINNING], 5)
    assert sorted(shown.columns[0].tolist()) == [1, 2]
    assert shown.start.tolist() == [BEGINNING, BEGINNING]


def test_a_snapshot_that_marks_what_was_there_as_older_versions_did_shows_it_once(tuning: Tuning) -> None:
    older = first_two(tuning)
    older.process([FROM_THE_BEGINNING], 5)
    near = older._leaders._near
    older._leaders._near = (np.full_like(near[0], BEGINNING), *near[1:])
    operator = first_two(tuning)
    operator.restore(older.snapshot())
    assert not len(operator.process([Batch.empty(ONE)], 6))
