"""Would catch a buffer that cannot remove tuples as their update pattern requires (U5, U6, W6)."""

from __future__ import annotations

import re

import pytest

from patterns.plans import (
    S1,
    S2,
    WINDOWS,
    R,
    anti_join,
    figure_6_left,
    figure_6_right,
    group_by,
    join,
    negation,
    nrr_join,
    picky_join,
    project,
    rows,
    select,
    semi_join,
    sliding,
    top,
)
from strategies.aggregates import copies, listing
from thalweg.algebra.expressions import Aggregate, Column, call, column
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    GroupBy,
    Intersect,
    IStream,
    JoinKind,
    NamedAggregate,
    Plan,
    RStream,
    SemiJoin,
    Union,
    Windowed,
)
from thalweg.algebra.windows import Landmark, PartitionedRows, Range, Rows, Window
from thalweg.core.errors import PlanError
from thalweg.core.types import DataType
from thalweg.kernel.pipeline.buffers import BufferSettings, join_buffers, make_buffer
from thalweg.kernel.state.buffers import Buffer, FifoBuffer, KeyedBuffer, PartitionedBuffer, SequentialBuffer
from thalweg.patterns import BufferContents, BufferKind, annotate, buffer_for, buffers, derive

W1, W2 = sliding(S1), sliding(S2)
PARTITIONED = Windowed(S1, PartitionedRows((0,), 2))
LOG, FIFO, PARTITIONS, HASH = BufferKind.LOG, BufferKind.FIFO, BufferKind.PARTITIONS, BufferKind.HASH
ARRAY, TIMELINE = BufferKind.ARRAY, BufferKind.TIMELINE


def kept(plan: Plan, dated: bool = False) -> list[tuple[BufferKind, str]]:
    """The layout and contents of each buffer of the top operator."""
    annotated = annotate(plan)
    return [(b.kind, b.holds.value) for b in buffers(plan, annotated.inputs, dated)]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (S1, LOG),
        (W1, FIFO),
        (select(W1), FIFO),
        (nrr_join(W1), FIFO),
        (rows(S1), FIFO),
        (Windowed(S1, Range(5, 5)), PARTITIONS),
        (join(W1, W2), PARTITIONS),
        (Distinct(W1), PARTITIONS),
        (Union(W1, W2), FIFO),
        (Union(W1, sliding(S2, 9)), PARTITIONS),  # WKS by rule 2, yet not first in, first out
        (Union(S1, W2), PARTITIONS),
        (Windowed(S1, WINDOWS["value"]), BufferKind.ORDER_INDEX),
        (Distinct(rows(S1)), BufferKind.ORDER_INDEX),
        (PARTITIONED, BufferKind.QUEUES),
        (join(rows(S1), rows(S2)), BufferKind.CATALOGUES),
        (select(join(rows(S1), W2)), BufferKind.CATALOGUES),
        (Union(rows(S1), rows(S2)), BufferKind.CATALOGUES),
        (group_by(W1, 0), BufferKind.ARRAY),
        (project(group_by(W1, 0), 1, 0), BufferKind.ARRAY),
        (select(group_by(W1, 0)), HASH),
        (negation(W1, W2), HASH),
        (join(W1, R), HASH),
    ],
)
def test_a_view_of_an_answer_calls_for_the_buffer_that_lets_its_results_leave(plan: Plan, expected: BufferKind) -> None:
    assert buffer_for(derive(plan), BufferContents.RESULT).kind is expected


@pytest.mark.parametrize("plan", [S1, R, W1, select(W1), project(W1, 0), Union(W1, W2), Windowed(S1, Landmark(7))])
def test_scans_time_windows_selections_projections_and_unions_keep_nothing(plan: Plan) -> None:
    assert kept(plan) == []


@pytest.mark.parametrize(
    ("window", "kind", "holds"),
    [
        (Rows(9), BufferKind.QUEUES, "window"),
        (PartitionedRows((0,), 2), BufferKind.QUEUES, "window"),
        (WINDOWS["value"], TIMELINE, "window"),
        (Range(60, 10), TIMELINE, "tuples of a slide"),
    ],
)
def test_windows_whose_tuples_later_ones_push_out_keep_them(window: Window, kind: BufferKind, holds: str) -> None:
    assert kept(Windowed(S1, window)) == [(kind, holds)]


def test_a_join_keeps_each_side_as_it_leaves() -> None:
    assert kept(join(W1, Union(W2, S2))) == [(FIFO, "left input"), (PARTITIONS, "right input")]
    assert kept(join(S1, S2)) == [(LOG, "left input"), (LOG, "right input")]
    assert kept(join(W1, R)) == [(FIFO, "left input"), (HASH, "right input")]


@pytest.mark.parametrize("side", [group_by(W1, 0), negation(W1, W2), rows(S1), PARTITIONED, join(rows(S1), rows(S2))])
def test_a_side_that_ends_by_negative_tuples_is_found_by_key(side: Plan) -> None:
    assert kept(join(side, W2))[0] == (HASH, "left input")


def test_over_count_windows_results_are_indexed_by_both_orders_if_they_are_dear_to_find() -> None:
    sides = [(HASH, "left input"), (HASH, "right input")]
    assert kept(picky_join(rows(S1), PARTITIONED)) == [*sides, (BufferKind.CATALOGUES, "result")]
    assert kept(join(rows(S1), PARTITIONED)) == sides
    assert kept(picky_join(W1, W2)) == [(FIFO, "left input"), (FIFO, "right input")]


def test_a_semi_join_keeps_the_left_side_and_the_distinct_partners() -> None:
    partners = [(BufferKind.DELTA, "result and last duplicates"), (PARTITIONS, "distinct partners")]
    assert kept(semi_join(W1, W2)) == [(FIFO, "left input"), *partners]
    assert kept(anti_join(rows(S1), W2)) == [(HASH, "left input"), *partners]
    assert kept(semi_join(W1, rows(S2))) == [
        (FIFO, "left input"),
        (ARRAY, "distinct partners"),
        (HASH, "distinct partners"),
    ]
    outer = join(W1, W2, JoinKind.LEFT)
    assert kept(outer) == [(FIFO, "left input"), (FIFO, "right input"), (FIFO, "left input"), *partners]


def test_a_semi_join_on_an_inequality_finds_the_rows_that_have_partners() -> None:
    delta = (BufferKind.DELTA, "result and last duplicates")
    plan = SemiJoin(W1, W2, call("<", column(W1.schema, 0), Column(2, DataType.BIGINT)))
    assert kept(plan) == [
        (FIFO, "left input"),
        delta,
        (PARTITIONS, "distinct partners"),
        (FIFO, "right input"),
        delta,
        (PARTITIONS, "distinct partners"),
    ]


def test_figure_6_the_left_input_of_the_negation_lies_in_queues() -> None:
    assert kept(figure_6_left(60)) == [(BufferKind.QUEUES, "left input"), (TIMELINE, "right input")]
    assert kept(figure_6_right(60)) == [(HASH, "left input"), (FIFO, "right input")]


def test_a_negation_counts_the_right_side_and_waits_for_ends_that_are_known() -> None:
    queues = (BufferKind.QUEUES, "left input")
    assert kept(negation(W1, rows(S2))) == [queues, (ARRAY, "right input")]
    assert kept(Intersect(W1, S2)) == [queues, (ARRAY, "right input")]
    assert kept(negation(negation(W1, W2), W2)) == [queues, (TIMELINE, "left input"), (TIMELINE, "right input")]


def test_an_nrr_join_keeps_the_table_and_no_stream_side() -> None:
    assert kept(nrr_join(W1)) == [(HASH, "right input")]


@pytest.mark.parametrize("child", [W1, join(W1, W2), Distinct(W1), Windowed(S1, Range(5, 5)), semi_join(W1, W2)])
def test_delta_star_replaces_distinct_where_ends_are_known(child: Plan) -> None:
    assert kept(Distinct(child)) == [(BufferKind.DELTA, "result and last duplicates")]


@pytest.mark.parametrize("child", [rows(S1), Windowed(S1, WINDOWS["value"]), group_by(W1, 0)])
def test_distinct_counts_duplicates_whose_ends_come_as_negative_tuples(child: Plan) -> None:
    assert kept(Distinct(child)) == [(ARRAY, "result")]


@pytest.mark.parametrize("child", [negation(W1, W2), Union(rows(S1), W2), sliding(IStream(W1))])
def test_distinct_waits_for_known_ends_that_may_be_taken_back(child: Plan) -> None:
    assert kept(Distinct(child)) == [(ARRAY, "result"), (TIMELINE, "input")]


def test_distinct_with_dates_keeps_those_of_all_duplicates() -> None:
    assert kept(Distinct(W1), dated=True) == [(ARRAY, "result"), (HASH, "input"), (TIMELINE, "input")]


def test_distinct_over_a_stream_keeps_what_it_has_shown() -> None:
    assert kept(Distinct(S1)) == [(BufferKind.DELTA, "result")]


def test_group_by_keeps_its_input_only_if_tuples_leave_it() -> None:
    assert kept(group_by(W1, 0)) == [(TIMELINE, "input"), (ARRAY, "result")]
    assert kept(group_by(S1, 0)) == [(ARRAY, "result")]
    assert kept(group_by(rows(S1), 0)) == [(ARRAY, "result")]  # an expiring tuple says itself what to subtract
    assert kept(group_by(S1, 0, distinct=True)) == [
        (BufferKind.DELTA, "result"),
        (BufferKind.DELTA, "distinct arguments"),
        (ARRAY, "result"),
    ]


def test_users_aggregates_keep_the_values_unless_they_go_step_by_step() -> None:
    values, shown = (HASH, "distinct arguments"), (BufferKind.DELTA, "result")
    assert kept(group_by(S1, 0, function=listing)) == [shown, values, (ARRAY, "result")]
    assert kept(group_by(S1, 0, function=copies)) == [shown, (ARRAY, "result")]
    assert kept(group_by(W1, 0, function=listing)) == [shown, (TIMELINE, "input"), values, (ARRAY, "result")]
    assert kept(group_by(rows(S1), 0, function=copies)) == [(ARRAY, "result")]


def test_extremes_keep_what_may_still_be_the_best() -> None:
    def best(child: Plan) -> list[tuple[BufferKind, str]]:
        greatest = NamedAggregate(Aggregate.of("max", column(child.schema, 1)), "m")
        return kept(GroupBy(child, (), (greatest,)))

    assert best(W1) == [(BufferKind.DELTA, "result"), (BufferKind.STAIRCASE, "input"), (ARRAY, "result")]
    assert best(rows(S1)) == [(HASH, "input"), (ARRAY, "result")]
    assert best(negation(W1, W2)) == [(TIMELINE, "input"), (HASH, "input"), (ARRAY, "result")]


def test_top_k_keeps_what_may_still_move_up() -> None:
    assert kept(top(W1)) == kept(top(rows(S1))) == [(BufferKind.RANKED, "input")]
    assert kept(top(S1)) == [(BufferKind.RANKED, "result")]


@pytest.mark.parametrize("operator", [IStream, DStream])
def test_istream_and_dstream_wait_for_the_ends_that_are_known(operator: type[IStream]) -> None:
    assert kept(operator(W1)) == kept(operator(negation(W1, W2))) == [(TIMELINE, "previous answer")]
    assert kept(operator(group_by(W1, 0))) == kept(operator(rows(S1))) == kept(operator(S1)) == []


@pytest.mark.parametrize("child", [W1, S1, negation(W1, W2)])
def test_rstream_always_keeps_the_answer(child: Plan) -> None:
    assert kept(RStream(child)) == [(BufferKind.SEQUENCE, "previous answer")]


@pytest.mark.parametrize("kind", BufferKind)
def test_a_side_is_made_for_every_kind_that_a_side_can_have(kind: BufferKind) -> None:
    sides: dict[BufferKind, type[Buffer]] = {LOG: FifoBuffer, FIFO: FifoBuffer, PARTITIONS: PartitionedBuffer}
    sides |= {HASH: KeyedBuffer, BufferKind.SEQUENCE: SequentialBuffer}
    if kind in sides:
        assert type(make_buffer(kind, BufferSettings(partitions=3))) is sides[kind]
        return
    with pytest.raises(PlanError, match=f"a join cannot keep its input in a buffer of kind '{re.escape(kind.value)}'"):
        make_buffer(kind, BufferSettings())


def test_settings_reach_the_buffers_and_one_layout_may_serve_all() -> None:
    settings = BufferSettings(partitions=3, lazy=7, layout=BufferKind.SEQUENCE)
    left, right = join_buffers(derive(W1), derive(negation(W1, W2)), settings)
    assert isinstance(left, SequentialBuffer) and isinstance(right, SequentialBuffer) and left is not right
    assert [type(b) for b in join_buffers(derive(W1), derive(join(W1, W2)), BufferSettings())] == [
        FifoBuffer,
        PartitionedBuffer,
    ]
