"""Would catch a strategy that can no longer draw what the engines must be tested on: an operator, a window, a trap."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import get_args

import pytest
from hypothesis import Phase, assume, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from strategies.catalog import catalog, catalog_of
from strategies.effort import exactly
from strategies.histories import histories
from strategies.plans import OPERATORS, cases, plans
from thalweg.algebra.plan import (
    Distinct,
    GroupBy,
    IStream,
    Join,
    JoinKind,
    Negation,
    NrrJoin,
    Plan,
    RelationScan,
    RStream,
    SemiJoin,
    Windowed,
)
from thalweg.algebra.windows import Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange, Window
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

pytestmark = pytest.mark.slow

quick = settings(exactly(5_000), phases=[Phase.generate])

KINDS = get_args(Plan)
WINDOWS: list[type[Window]] = [Landmark, Now, PartitionedRows, Range, Rows, Unbounded, ValueRange]


def somewhere(wanted: Callable[[Plan], bool]) -> Callable[[Plan], bool]:
    return lambda plan: any(map(wanted, plan.walk()))


def over(node: Plan, kind: type[Plan]) -> bool:
    return any(isinstance(below, kind) for child in node.children for below in child.walk())


def windows_of(n: Join) -> set[type[Window]]:
    return {type(child.window) for child in n.children if isinstance(child, Windowed)}


def has_window(n: Plan, kind: type[Window]) -> bool:
    return isinstance(n, Windowed) and isinstance(n.window, kind)


def is_a(kind: type[Plan]) -> Callable[[Plan], bool]:
    return lambda n: isinstance(n, kind)


def windowed(kind: type[Window], derived: bool) -> Callable[[Plan], bool]:
    return lambda n: isinstance(n, Windowed) and has_window(n, kind) and bool(n.child.children) is derived


def is_left_nrr_join_over_distinct(n: Plan) -> bool:
    return isinstance(n, NrrJoin) and n.kind is JoinKind.LEFT and isinstance(n.left, Distinct)


TRAPS: dict[str, Callable[[Plan], bool]] = {
    "negation above a join": lambda n: isinstance(n, Negation) and not n.compares_rows and over(n, Join),
    "join above a negation": lambda n: isinstance(n, Join) and isinstance(n.left, Negation) and bool(n.equalities),
    "anti-join above a join": lambda n: isinstance(n, SemiJoin) and n.anti and over(n, Join),
    "global aggregate": lambda n: isinstance(n, GroupBy) and not n.keys and isinstance(n.child, Windowed),
    "aggregate over a landmark": lambda n: isinstance(n, GroupBy) and has_window(n.child, Landmark),
    "distinct over a window": lambda n: isinstance(n, Distinct) and over(n, Windowed),
    "window over istream": lambda n: isinstance(n, Windowed) and over(n, IStream),
    "istream of a join": lambda n: isinstance(n, IStream) and isinstance(n.child, Join),
    "rstream of now": lambda n: isinstance(n, RStream) and has_window(n.child, Now),
    "retroactive relation": lambda n: isinstance(n, Join) and isinstance(n.right, RelationScan),
    "NRR join over distinct": lambda n: (
        isinstance(n, NrrJoin) and n.kind is JoinKind.LEFT and isinstance(n.left, Distinct)
    ),
    "diverse windows": lambda n: isinstance(n, Join) and windows_of(n) == {Range, Rows},
}
WANTED: dict[str, Callable[[Plan], bool]] = {
    **{kind.__name__: somewhere(is_a(kind)) for kind in KINDS},
    **{f"{kind.__name__} of a stream": somewhere(windowed(kind, False)) for kind in WINDOWS},
    **{f"{kind.__name__} of a derived stream": somewhere(windowed(kind, True)) for kind in WINDOWS},
    **{name: somewhere(trap) for name, trap in TRAPS.items()},
    "three sources": lambda plan: len(catalog_of(plan).names) == 3,
}


@cache
def first_plans() -> dict[str, Plan]:
    """The first plan that has each of what is wanted; 5,000 are drawn unless all are met before."""
    met: dict[str, Plan] = {}

    def all_met(plan: Plan) -> bool:
        met.update({name: plan for name, has in WANTED.items() if name not in met and has(plan)})
        return len(met) == len(WANTED)

    with suppress(NoSuchExample):
        find(plans(), all_met, settings=quick, random=random.Random(1))
    return met


@pytest.mark.parametrize("name", WANTED)
def test_every_operator_window_and_trap_is_drawn(name: str) -> None:
    assert name in first_plans()


def test_aggregates_of_users_are_drawn_only_where_they_can_be_run() -> None:
    def has_one(plan: Plan) -> bool:
        return any(a.aggregate.user is not None for n in plan.walk() if isinstance(n, GroupBy) for a in n.aggregates)

    find(plans(root="distinct"), has_one, settings=quick, random=random.Random(1))
    with pytest.raises(NoSuchExample):
        find(
            plans(root="group-by", in_sql=True),
            has_one,
            settings=settings(quick, max_examples=200),
            random=random.Random(1),
        )


@st.composite
def joins_above_negations(draw: st.DrawFn) -> tuple[Plan, History]:
    """As `cases` draws them; no history is drawn for other plans."""
    plan = draw(plans(root="join", size=3))
    assume(isinstance(plan, Join) and isinstance(plan.left, Negation) and plan.kind is JoinKind.INNER)
    return plan, draw(histories(catalog_of(plan)))


def test_pulling_a_negation_above_a_join_is_found_out() -> None:
    """Figure 6 of GolabOzsu2005 as a rewrite, without its condition: drawn cases must show that answers differ."""

    def differs(case: tuple[Plan, History]) -> bool:
        plan, history = case
        assert isinstance(plan, Join) and isinstance(plan.left, Negation)
        pulled_up = Negation(plan.with_children(plan.left.left, plan.right), plan.left.right, plan.left.on)
        return Reference(plan, history).answer(history.last) != Reference(pulled_up, history).answer(history.last)

    find(joins_above_negations(), differs, settings=quick, random=random.Random(1))


@pytest.mark.parametrize("root", OPERATORS)
def test_answers_are_not_always_empty(root: str) -> None:
    def lively(case: tuple[Plan, History]) -> bool:
        plan, history = case
        states = [Reference(plan, history).answer(t) for t in (history.last - 2, history.last)]
        return history.size > 3 and all(states) and states[0] != states[1]

    find(cases(root=root), lively, settings=quick, random=random.Random(1))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda h: len({a.ts for a in h.stream("s")}) < len(h.stream("s")),
        lambda h: len(h.stream("s")) > 1 and h.stream("s")[-1].ts - h.stream("s")[0].ts > 20,
        lambda h: any(None in a.row for a in h.stream("u")),
        lambda h: len(h.stream("s")) - len({a.row for a in h.stream("s")}) > 2,
        lambda h: any(u.sign < 0 for u in h.updates("r")) and any(u.sign < 0 for u in h.updates("n")),
        lambda h: {u.t for u in h.updates("n") if u.sign < 0} & {u.t for u in h.updates("n") if u.sign > 0},
        lambda h: h.size == 0,
    ],
    ids=["ties", "silence", "NULLs", "repeated rows", "deletes", "an update of an NRR", "nothing at all"],
)
def test_histories_have_all_that_can_happen(wanted: Callable[[History], bool]) -> None:
    find(histories(catalog()), lambda h: bool(wanted(h)), settings=quick, random=random.Random(1))


def test_a_plans_catalogue_holds_what_it_reads() -> None:
    plan = first_plans()["three sources"]
    leaves = {leaf.detail for leaf in plan.walk() if not leaf.children}
    assert set(catalog_of(plan).names) == leaves
