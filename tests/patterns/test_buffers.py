"""Would catch a buffer that cannot let go of what its tuples' pattern makes leave (U5, U6, W6)."""

from __future__ import annotations

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
    project,
    rows,
    select,
    semi_join,
    sliding,
    top,
)
from strategies.aggregates import listing, tally
from thalweg.algebra.plan import Distinct, DStream, Intersect, IStream, Plan, RStream, Union, Windowed
from thalweg.algebra.windows import PartitionedRows, Range
from thalweg.patterns import BufferKind, Holds, annotate, buffer_for, buffers, derive

W1, W2 = sliding(S1), sliding(S2)
PARTITIONED = Windowed(S1, PartitionedRows((0,), 2))
LOG, FIFO, PARTITIONS, HASH = BufferKind.LOG, BufferKind.FIFO, BufferKind.PARTITIONS, BufferKind.HASH


def kept(plan: Plan) -> list[tuple[BufferKind, str]]:
    """The layout and contents of each buffer of the top operator."""
    annotated = annotate(plan)
    return [(b.kind, b.holds.value) for b in buffers(plan, annotated.inputs, annotated.edge)]


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
def test_the_answer_of_a_query_is_kept_as_its_results_leave(plan: Plan, expected: BufferKind) -> None:
    assert buffer_for(derive(plan), Holds.RESULT).kind is expected


@pytest.mark.parametrize("plan", [S1, R, W1, rows(S1), PARTITIONED, select(W1), project(W1, 0), Union(W1, W2)])
def test_scans_windows_selections_projections_and_unions_keep_nothing(plan: Plan) -> None:
    assert kept(plan) == []


def test_a_join_keeps_each_side_as_it_leaves() -> None:
    assert kept(join(W1, Union(W2, S2))) == [(FIFO, "left input"), (PARTITIONS, "right input")]
    assert kept(join(S1, S2)) == [(LOG, "left input"), (LOG, "right input")]
    assert kept(join(W1, R)) == [(FIFO, "left input"), (HASH, "right input")]
    assert kept(join(group_by(W1, 0), W2)) == [(BufferKind.ARRAY, "left input"), (FIFO, "right input")]


@pytest.mark.parametrize("operator", [join, semi_join, Intersect])
def test_over_count_windows_results_are_indexed_by_both_orders(operator: type[Intersect]) -> None:
    assert kept(operator(rows(S1), PARTITIONED)) == [
        (FIFO, "left input"),
        (BufferKind.QUEUES, "right input"),
        (BufferKind.CATALOGUES, "result"),
    ]


def test_figure_6_the_left_input_of_the_negation_is_partitioned() -> None:
    assert kept(figure_6_left(60)) == [(PARTITIONS, "left input"), (FIFO, "right input")]
    assert kept(figure_6_right(60)) == [(HASH, "left input"), (FIFO, "right input")]


def test_an_nrr_join_keeps_the_table_and_no_stream_side() -> None:
    assert kept(nrr_join(W1)) == [(HASH, "right input")]


@pytest.mark.parametrize(
    "child", [W1, join(W1, W2), rows(S1), Windowed(S1, WINDOWS["value"]), Windowed(S1, Range(5, 5))]
)
def test_delta_star_replaces_distinct_where_ends_compare(child: Plan) -> None:
    assert kept(Distinct(child)) == [(BufferKind.DELTA, "result and last duplicates")]


@pytest.mark.parametrize(
    ("child", "input_kind", "result_kind"),
    [
        (negation(W1, W2), HASH, HASH),
        (PARTITIONED, BufferKind.QUEUES, BufferKind.QUEUES),  # which of two equal rows of two keys leaves last?
        (join(rows(S1), rows(S2)), BufferKind.CATALOGUES, BufferKind.CATALOGUES),
        (group_by(W1, 0), BufferKind.ARRAY, HASH),
    ],
)
def test_distinct_keeps_its_input_where_ends_do_not_compare(
    child: Plan, input_kind: BufferKind, result_kind: BufferKind
) -> None:
    assert kept(Distinct(child)) == [(input_kind, "input"), (result_kind, "result")]


def test_distinct_over_a_stream_keeps_what_it_has_shown() -> None:
    assert kept(Distinct(S1)) == [(LOG, "result")]


def test_group_by_keeps_its_input_only_if_tuples_leave_it() -> None:
    assert kept(group_by(W1, 0)) == [(FIFO, "input"), (BufferKind.ARRAY, "result")]
    assert kept(group_by(S1, 0)) == [(BufferKind.ARRAY, "result")]
    assert kept(group_by(S1, 0, distinct=True)) == [(LOG, "distinct arguments"), (BufferKind.ARRAY, "result")]


def test_users_aggregates_keep_the_arguments_unless_they_go_step_by_step() -> None:
    arguments, result = (LOG, "distinct arguments"), (BufferKind.ARRAY, "result")
    assert kept(group_by(S1, 0, function=listing)) == [arguments, result]
    assert kept(group_by(S1, 0, function=tally)) == [result]
    assert kept(group_by(S1, 0, function=tally, distinct=True)) == [arguments, result]
    assert kept(group_by(W1, 0, function=listing)) == kept(group_by(W1, 0, function=tally)) == [(FIFO, "input"), result]


def test_strict_operators_keep_both_inputs() -> None:
    assert kept(anti_join(W1, join(W1, W2))) == [(FIFO, "left input"), (PARTITIONS, "right input")]
    assert kept(top(W1)) == [(FIFO, "input"), (HASH, "result")]
    assert kept(top(S1)) == [(HASH, "result")]


@pytest.mark.parametrize("operator", [IStream, DStream])
def test_istream_and_dstream_keep_the_answer_only_if_its_losses_are_not_told(operator: type[IStream]) -> None:
    assert kept(operator(W1)) == [(FIFO, "previous answer")]
    assert kept(operator(group_by(W1, 0))) == [(BufferKind.ARRAY, "previous answer")]
    assert kept(operator(negation(W1, W2))) == []
    assert kept(operator(S1)) == []


@pytest.mark.parametrize(("child", "kind"), [(W1, FIFO), (S1, LOG), (negation(W1, W2), HASH)])
def test_rstream_always_keeps_the_answer(child: Plan, kind: BufferKind) -> None:
    assert kept(RStream(child)) == [(kind, "previous answer")]
