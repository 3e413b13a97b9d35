"""Would catch a tree of joins that is flattened into another query, or a multi-way join that is cut up into one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.oracle.tables import close
from strategies.catalog import S, T, U, catalog, catalog_of
from strategies.dice import Dice
from strategies.effort import examples
from strategies.histories import histories
from strategies.plans import PlanDrawer, cases
from thalweg.algebra.expressions import Expression, and_, call, column
from thalweg.algebra.plan import (
    Join,
    JoinKind,
    MultiJoin,
    Plan,
    Project,
    Select,
    StreamScan,
    Windowed,
    flatten,
    unflatten,
)
from thalweg.algebra.windows import Range
from thalweg.core.errors import PlanError
from thalweg.reference.evaluate import Reference
from thalweg.reference.history import History

drawn = examples(20)

WINDOWS = [Windowed(StreamScan(source), Range(5)) for source in (S, T, U)]


def same_answers(plan: Plan, other: Plan, history: History) -> None:
    one, two = Reference(plan, history), Reference(other, history)
    assert plan.schema.types == other.schema.types
    for t in one.instants(max(history.last, 0) + 14):
        assert close(one.answer(t), two.answer(t)), t


@st.composite
def trees(draw: st.DrawFn) -> Plan:
    dice = Dice(draw)
    drawer = PlanDrawer(dice, catalog(), in_sql=False)
    plan: Plan = drawer.leaf()
    for _ in range(dice.number(1, 3)):
        left, right = (plan, drawer.leaf()) if dice.chance(2) else (drawer.leaf(), plan)
        plan = drawer._joined(left, right, JoinKind.INNER)
        if dice.chance(3):
            plan = drawer._selected(plan)
    return plan


@drawn
@given(data=st.data())
def test_a_flattened_tree_gives_the_same_answers(data: st.DataObject) -> None:
    plan = data.draw(trees())
    flat = flatten(plan)
    joins = sum(isinstance(node, Join) for node in plan.walk())
    assert isinstance(flat, MultiJoin) == (joins > 1)
    same_answers(plan, flat, data.draw(histories(catalog_of(plan), max_size=14)))


@drawn
@given(data=st.data())
def test_every_order_gives_the_same_answers(data: st.DataObject) -> None:
    plan, history = data.draw(cases(root="multi-join", max_size=14))
    assert isinstance(plan, MultiJoin)
    order = data.draw(st.permutations(range(len(plan.inputs))))
    tree = unflatten(plan, order)
    assert not isinstance(tree, MultiJoin)
    same_answers(plan, tree, history)


def equal(plan: Plan, i: int, j: int) -> Expression:
    return call("=", column(plan.schema, i), column(plan.schema, j))


def test_equalities_close_so_that_no_order_has_a_cross_product() -> None:
    s, t, u = WINDOWS
    every = MultiJoin((s, t, u), and_([]))
    multi = MultiJoin((s, t, u), and_([equal(every, 0, 2), equal(every, 2, 4)]))
    tree = unflatten(multi, (2, 0, 1))
    joins = [node for node in tree.walk() if isinstance(node, Join)]
    assert isinstance(tree, Project) and all(len(join.equalities) == 1 for join in joins)


def test_outer_joins_and_two_inputs_stay_as_they_are() -> None:
    s, t, u = WINDOWS
    two = Join(s, t, and_([]))
    assert flatten(two) == two
    outer = Join(two, u, and_([]), JoinKind.LEFT)
    assert flatten(outer) == outer
    assert isinstance(flatten(Select(Join(two, u, and_([])), call("is_null", column(s.schema, 0)))), MultiJoin)


def test_wrong_shapes_are_refused() -> None:
    s, t, u = WINDOWS
    with pytest.raises(PlanError, match="at least 3 inputs, not 2"):
        MultiJoin((s, t), and_([]))
    with pytest.raises(PlanError, match="names each of 0 to 2 once, not 0, 1, 1"):
        unflatten(MultiJoin((s, t, u), and_([])), (0, 1, 1))
