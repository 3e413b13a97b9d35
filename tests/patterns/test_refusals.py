"""Would catch a plan that breaks Definition 1 or 2 and is accepted, or a valid plan that is refused (U8)."""

from __future__ import annotations

import re

import pytest

from patterns.plans import (
    NRR,
    S1,
    S2,
    Q,
    R,
    anti_join,
    group_by,
    join,
    negation,
    nrr_join,
    project,
    select,
    semi_join,
    sliding,
    top,
)
from thalweg.algebra.plan import Distinct, IStream, JoinKind, Plan, Union, Windowed
from thalweg.algebra.windows import Range
from thalweg.core.errors import PlanError
from thalweg.patterns import check

W1, W2 = sliding(S1), sliding(S2)
STRICT: list[tuple[Plan, str]] = [
    (negation(W1, W2), "Negation"),
    (anti_join(W1, W2), "AntiJoin"),
    (join(W1, W2, JoinKind.LEFT), "LeftOuterJoin"),
    (join(W1, W2, JoinKind.FULL), "FullOuterJoin"),
    (top(W1), "TopK"),
    (Distinct(select(negation(W1, W2))), "Negation"),
    (join(W2, anti_join(W1, W2)), "AntiJoin"),
    (semi_join(negation(W1, W2), R), "Negation"),
]


@pytest.mark.parametrize(("plan", "label"), STRICT)
@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT])
def test_an_nrr_join_refuses_a_strict_input(plan: Plan, label: str, kind: JoinKind) -> None:
    name = "NrrJoin" if kind is JoinKind.INNER else "LeftOuterNrrJoin"
    message = f"{name} with the NRR n cannot take negative tuples, but the {label} below it sends them"
    with pytest.raises(PlanError, match=message) as raised:
        check(nrr_join(plan, kind=kind))
    assert raised.value.hint == f"join n below the {label}, to the windowed stream itself"


def test_an_nrr_join_refuses_the_output_of_a_relation_join() -> None:
    with pytest.raises(PlanError, match="but the relation r below it sends them") as raised:
        check(nrr_join(join(W1, R)))
    assert raised.value.hint == "join n first, then r"
    check(join(nrr_join(W1), R))


@pytest.mark.parametrize(("plan", "label"), STRICT)
def test_a_relation_join_refuses_a_strict_input(plan: Plan, label: str) -> None:
    message = f"Join with the relation r cannot take negative tuples, but the {label} below it sends them"
    for refused in (join(plan, R), join(select(R), plan), Distinct(join(plan, R))):
        with pytest.raises(PlanError, match=re.escape(message)) as raised:
            check(refused)
        assert raised.value.hint == f"join r below the {label}, to the windowed stream itself"


@pytest.mark.parametrize(
    "plan",
    [
        join(W1, R),
        join(R, W1),
        join(join(W1, R), Q),
        join(select(join(W1, R)), Q),
        join(join(W1, R, JoinKind.LEFT), Q, JoinKind.LEFT),
        join(join(W1, R), W2),
        join(R, join(R, Q, JoinKind.LEFT)),  # tables alone
        join(group_by(negation(W1, W2), 0), R),  # rule 4 ends the strictness
        join(Windowed(IStream(negation(W1, W2)), Range(5)), R),  # and so does emission
        negation(join(W1, R), Union(W2, W2)),
        anti_join(W1, R),
    ],
    ids=lambda plan: str(plan.label),
)
def test_relation_joins_that_are_fair(plan: Plan) -> None:
    check(plan)


def test_a_strict_operator_hidden_in_a_chain_of_outer_relation_joins_is_still_found() -> None:
    with pytest.raises(PlanError, match=r"LeftOuterJoin with the relation r .* the Negation below"):
        check(join(join(negation(W1, W2), R, JoinKind.LEFT), Q))


@pytest.mark.parametrize(
    "plan",
    [
        nrr_join(S1),
        nrr_join(W1, select(NRR)),
        nrr_join(nrr_join(W1), project(NRR, 0)),
        nrr_join(group_by(W1, 0)),
        nrr_join(project(join(W1, W2), 0, 1)),
        negation(project(nrr_join(W1), 0, 1), W2),
    ],
    ids=lambda plan: str(plan.label),
)
def test_nrr_joins_that_are_fair(plan: Plan) -> None:
    check(plan)


@pytest.mark.parametrize(
    "plan",
    [
        NRR,
        select(NRR),
        join(W1, NRR),
        join(NRR, W1),
        Union(W1, NRR),
        negation(W1, NRR),
        nrr_join(NRR),
        semi_join(W1, NRR),
        join(NRR, R),
    ],
    ids=lambda plan: str(plan.label),
)
def test_an_nrr_that_stands_elsewhere_is_refused(plan: Plan) -> None:
    with pytest.raises(PlanError, match="the NRR n stands alone") as raised:
        check(plan)
    assert raised.value.hint is not None
    assert "FROM stream JOIN n ON ..." in raised.value.hint
