"""Would catch a propagation rule of GolabOzsu2005 §5.2 that labels an edge too weak or too strong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from patterns.plans import (
    NRR,
    PAIR,
    S1,
    S2,
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
from thalweg.algebra.expressions import FALSE
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    Intersect,
    IStream,
    JoinKind,
    Plan,
    PlanNode,
    RStream,
    Select,
    Union,
    Windowed,
)
from thalweg.algebra.windows import PartitionedRows, Range
from thalweg.core.schema import Schema
from thalweg.patterns import Annotated, Expiry, ExpiryOrder, Pattern, annotate, derive

MON, WKS, WK, STR = Pattern
W1, W2 = sliding(S1), sliding(S2)
WEAK = join(W1, W2)
STRICT = negation(W1, W2)
INPUTS = [(S1, MON), (W1, WKS), (project(WEAK, 0, 1), WK), (STRICT, STR)]


def test_patterns_are_ordered_and_named() -> None:
    assert sorted([STR, WK, MON, WKS]) == [MON, WKS, WK, STR]
    assert [p.full_name for p in Pattern] == [
        "monotonic",
        "weakest non-monotonic",
        "weak non-monotonic",
        "strict non-monotonic",
    ]


@pytest.mark.parametrize(("plan", "pattern"), INPUTS, ids=["MON", "WKS", "WK", "STR"])
def test_rule_1_unary_weakest_operators_and_nrr_joins_give_what_they_take(plan: Plan, pattern: Pattern) -> None:
    for above in (select(plan), project(plan, 0), nrr_join(plan), nrr_join(plan, kind=JoinKind.LEFT)):
        edge = derive(above)
        assert (edge.pattern, edge.expiry) == (pattern, derive(plan).expiry)


@pytest.mark.parametrize("above", [lambda p: p, select, lambda p: project(p, 0, 1), lambda p: join(p, W2)])
@pytest.mark.parametrize("redated", [Distinct(S1), Distinct(W1), Intersect(W1, W2)])
def test_an_nrr_join_of_rows_that_are_dated_anew_takes_results_back(
    redated: Plan, above: Callable[[Plan], Plan]
) -> None:
    edge = derive(nrr_join(above(redated), kind=JoinKind.LEFT))
    assert (edge.pattern, edge.expiry) == (WK, Expiry.NEGATIVE)


@pytest.mark.parametrize(("plan", "_pattern"), INPUTS)
def test_a_selection_that_is_never_true_is_monotonic(plan: Plan, _pattern: Pattern) -> None:
    assert derive(Select(plan, FALSE)).pattern is Pattern.MON


@pytest.mark.parametrize(("left", "first"), INPUTS)
@pytest.mark.parametrize(("right", "second"), INPUTS)
def test_rule_2_a_union_is_as_strong_as_its_stronger_input(
    left: Plan, first: Pattern, right: Plan, second: Pattern
) -> None:
    assert derive(Union(left, right)).pattern is max(first, second)


@pytest.mark.parametrize(("left", "first"), INPUTS)
@pytest.mark.parametrize(("right", "second"), INPUTS)
@pytest.mark.parametrize("operator", [join, Intersect, semi_join])
def test_rule_3_what_stores_its_inputs_is_at_least_weak_unless_nothing_leaves(
    operator: Callable[[Plan, Plan], Plan], left: Plan, first: Pattern, right: Plan, second: Pattern
) -> None:
    strongest = max(first, second)
    expected = strongest if strongest in (MON, STR) else WK
    assert derive(operator(left, right)).pattern is expected


@pytest.mark.parametrize(("plan", "expected"), [(S1, MON), (W1, WK), (project(WEAK, 0, 1), WK), (STRICT, STR)])
def test_rule_3_distinct(plan: Plan, expected: Pattern) -> None:
    assert derive(Distinct(plan)).pattern is expected


@pytest.mark.parametrize("plan", [*(plan for plan, _ in INPUTS), R, rows(S1)])
def test_rule_4_group_by_is_always_weak_by_replacement(plan: Plan) -> None:
    edge = derive(group_by(plan, 0))
    assert (edge.pattern, edge.expiry) == (WK, Expiry.REPLACEMENT)


@pytest.mark.parametrize(("plan", "_pattern"), INPUTS)
def test_rule_5_strict_operators_and_relation_joins_are_always_strict(plan: Plan, _pattern: Pattern) -> None:
    outer = [join(plan, S2, kind) for kind in JoinKind if kind is not JoinKind.INNER]
    strict: list[Plan] = [
        negation(plan, S2),
        negation(S2, plan),
        anti_join(plan, S2),
        anti_join(S2, plan),
        top(plan),
        *outer,
    ]
    joins: list[Plan] = [join(plan, R), join(R, plan), semi_join(plan, R), join(plan, select(R))]
    for above in [*strict, *joins]:
        edge = derive(above)
        assert (edge.pattern, edge.expiry) == (STR, Expiry.NEGATIVE)
        assert edge.why.startswith("rule 5")


def test_rule_5_does_not_reach_a_non_retroactive_relation() -> None:
    assert derive(nrr_join(W1)).pattern is WKS
    assert derive(join(W1, R)).pattern is STR


@pytest.mark.parametrize("operator", [IStream, DStream, RStream])
@pytest.mark.parametrize(("plan", "_pattern"), INPUTS)
def test_what_was_emitted_stays_and_may_be_windowed_again(
    operator: type[IStream], plan: Plan, _pattern: Pattern
) -> None:
    emitted = operator(plan)
    assert derive(emitted).pattern is MON
    assert derive(Windowed(emitted, Range(5))).pattern is WKS
    assert derive(Windowed(emitted, PartitionedRows((0,), 2))).pattern is WK


def labels(plan: Annotated) -> list[tuple[str, str]]:
    """Every operator but the scans with its label, from the top, left to right."""
    own = [] if plan.node.label == "StreamScan" else [(plan.node.label, plan.edge.pattern.name)]
    return own + [pair for child in plan.children for pair in labels(child)]


def test_figure_6_with_the_negation_pulled_up() -> None:
    assert labels(annotate(figure_6_left(60))) == [
        ("Negation", "STR"),
        ("Join", "WK"),
        ("Window", "WKS"),
        ("Select", "WKS"),
        ("Window", "WKS"),
        ("Window", "WKS"),
    ]


def test_figure_6_with_the_negation_pushed_down() -> None:
    assert labels(annotate(figure_6_right(60))) == [
        ("Join", "STR"),
        ("Negation", "STR"),
        ("Window", "WKS"),
        ("Window", "WKS"),
        ("Select", "WKS"),
        ("Window", "WKS"),
    ]


def test_a_join_carries_an_order_if_either_side_does() -> None:
    assert derive(join(W1, W2)).expiry is Expiry.TIME
    assert derive(join(rows(S1), W2)).expiry is Expiry.ORDER
    assert derive(join(S1, rows(S2))).expiry is Expiry.ORDER
    assert derive(join(rows(S1), STRICT)).expiry is Expiry.NEGATIVE


def test_replacement_lasts_only_while_the_group_is_known() -> None:
    counted = group_by(W1, 0)
    assert derive(project(counted, 1, 0)).expiry is Expiry.REPLACEMENT
    assert derive(project(project(counted, 1, 0), 1)).expiry is Expiry.REPLACEMENT
    assert derive(project(group_by(W1), 0)).expiry is Expiry.REPLACEMENT  # one group: any column will do
    changed: list[Plan] = [
        project(counted, 1),  # the key is lost
        select(counted),  # HAVING may drop the next value
        project(select(counted), 0, 1),
        Distinct(counted),
        join(counted, W2),
        Union(counted, W2),
        nrr_join(counted),
    ]
    for above in changed:
        edge = derive(above)
        assert (edge.pattern, edge.expiry) == (WK, Expiry.NEGATIVE)


@pytest.mark.parametrize("above", [select, Distinct, nrr_join, lambda p: join(p, W2), lambda p: Union(p, W2)])
def test_the_operator_that_turns_replacements_into_negative_tuples_says_so(above: Callable[[Plan], Plan]) -> None:
    said = "a group's old value is taken back by a negative tuple"
    assert said in derive(above(group_by(W1, 0))).why
    assert said not in derive(above(W1)).why


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (W1, W2, ExpiryOrder.FIFO),
        (select(W1), project(W2, 0, 1), ExpiryOrder.FIFO),
        (Union(W1, W2), W2, ExpiryOrder.FIFO),
        (sliding(S1, 1), sliding(S2, 9), ExpiryOrder.TOTAL),  # [RANGE 1] overtakes [RANGE 9]
        (S1, W2, ExpiryOrder.TOTAL),  # what never leaves must not block the rest
        (rows(S1), rows(S2), ExpiryOrder.PER_SIDE),  # each stream has its own count
        (rows(S1), W2, ExpiryOrder.PER_SIDE),
        (S1, rows(S2), ExpiryOrder.TOTAL),
    ],
)
def test_a_weakest_union_is_first_in_first_out_only_over_equal_time_windows(
    left: Plan, right: Plan, expected: ExpiryOrder
) -> None:
    edge = derive(Union(left, right))
    assert (edge.pattern, edge.expiry_order) == (WKS, expected)


def test_an_unknown_operator_is_refused() -> None:
    @dataclass(frozen=True)
    class Mystery(PlanNode):
        @property
        def schema(self) -> Schema:
            return PAIR

    with pytest.raises(AssertionError, match="Mystery"):
        derive(Mystery())  # type: ignore[arg-type]


def test_an_nrr_is_labelled_though_it_cannot_be_asked() -> None:
    assert derive(NRR).pattern is STR
