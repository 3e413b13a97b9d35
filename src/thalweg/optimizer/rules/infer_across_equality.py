"""sigma_{a op c}(S1) |x|_{a = b} S2 = sigma_{a op c}(S1) |x|_{a = b} sigma_{b op c}(S2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from thalweg.algebra.expressions import Call, Column, Expression
from thalweg.algebra.plan import Join, NrrJoin, Plan, SemiJoin
from thalweg.optimizer.columns import selected
from thalweg.optimizer.conditions import implies, subject_of
from thalweg.optimizer.facts import facts, is_plain
from thalweg.optimizer.rules.push_condition_below_join import losing_sides


def infer_across_equality(plan: Plan) -> Plan | None:
    """What is known of one side of an equality is asked of the other, which then keeps fewer rows.

    For comparisons of plain columns with constants, and to a side whose rows do not survive without a partner (see
    `push_condition_below_join`): a row that fails could have none.
    """
    if not isinstance(plan, Join | SemiJoin | NrrJoin):
        return None
    width = len(plan.left.schema)
    pairs = [(a.index, b.index - width) for a, b in plan.equalities if isinstance(a, Column) and isinstance(b, Column)]
    left_loses, right_loses = losing_sides(plan)
    left = _asked(plan.left, plan.right, [(b, a) for a, b in pairs]) if left_loses else plan.left
    right = _asked(plan.right, plan.left, pairs) if right_loses else plan.right
    return None if (left, right) == (plan.left, plan.right) else replace(plan, left=left, right=right)


def _asked(side: Plan, other: Plan, pairs: Iterable[tuple[int, int]]) -> Plan:
    """A side, less the rows that differ from what is known of the columns of the other that they must equal."""
    known, news = facts(side), list[Expression]()
    for theirs, mine in pairs:
        if is_plain(side, mine):
            column = Column(mine, side.schema[mine].type, side.schema[mine].name)
            about = [Call(f.function, (column, *f.args[1:]), f.type) for f in _about(facts(other), theirs)]
            news += [fact for fact in about if not implies([*known, *news], fact)]
    return selected(side, news)


def _about(known: Sequence[Expression], index: int) -> list[Call]:
    return [f for f in known if isinstance(f, Call) and isinstance(s := subject_of(f), Column) and s.index == index]
