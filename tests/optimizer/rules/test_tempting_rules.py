"""Rules without their conditions: the drawn plans must find a plan and a history that each of them gets wrong.

Would catch property tests that could not fail.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import Phase, find, settings

from optimizer.drawn import rule_cases
from optimizer.same import difference
from strategies.effort import exactly
from thalweg.algebra.expressions import and_
from thalweg.algebra.plan import (
    Distinct,
    Intersect,
    Join,
    JoinKind,
    Negation,
    NrrJoin,
    Plan,
    Project,
    RStream,
    Select,
    SemiJoin,
    Union,
    Windowed,
)
from thalweg.algebra.windows import LogicalWindow
from thalweg.optimizer import Rule, rewrite
from thalweg.optimizer.expressions import split
from thalweg.optimizer.rules.distinct import eliminate_instead_of_group
from thalweg.reference.history import History

pytestmark = pytest.mark.slow

thorough = settings(exactly(5_000), phases=[Phase.generate])


def pull_up_any_negation(plan: Plan) -> Plan | None:
    match plan:
        case Join(Negation(left, right, on), kind=JoinKind.INNER):
            return Negation(replace(plan, left=left), right, on)
    return None


def select_below_any_window(plan: Plan) -> Plan | None:
    match plan:
        case Select(Windowed(stream, window), predicate) if not isinstance(window, LogicalWindow):
            return Windowed(Select(stream, predicate), window)
    return None


def select_below_any_negation(plan: Plan) -> Plan | None:
    match plan:
        case Select(Negation(left, right, on), predicate):
            return Negation(Select(left, predicate), right, on)
    return None


def select_below_a_stream_of_answers(plan: Plan) -> Plan | None:
    match plan:
        case Select(RStream(child), predicate):
            return RStream(Select(child, predicate))
    return None


def ask_before_an_anti_join(plan: Plan) -> Plan | None:
    match plan:
        case SemiJoin(left, _, condition, anti=True):
            down, stay = split(condition, lambda read: max(read) < len(left.schema))
            return replace(plan, left=Select(left, and_(down)), condition=and_(stay)) if down else None
    return None


def narrow_any_outer_join(plan: Plan) -> Plan | None:
    match plan:
        case Select(Join(kind=JoinKind.LEFT) as join, predicate):
            return Select(replace(join, kind=JoinKind.INNER), predicate)
    return None


def eliminate_before_an_nrr(plan: Plan) -> Plan | None:
    match plan:
        case Distinct(NrrJoin(left) as join) if not isinstance(left, Distinct):
            return Distinct(replace(join, left=Distinct(left)))
    return None


def eliminate_below_a_union(plan: Plan) -> Plan | None:
    match plan:
        case Distinct(Union(left, right)):
            return Union(Distinct(left), Distinct(right))
    return None


def eliminate_below_any_projection(plan: Plan) -> Plan | None:
    match plan:
        case Distinct(Project(child, items)):
            return Project(Distinct(child), items)
    return None


def count_no_further_than_one(plan: Plan) -> Plan | None:
    match plan:
        case Negation(right=right) | Intersect(right=right) if not isinstance(right, Distinct):
            return replace(plan, right=Distinct(right))
    return None


def merge_windows_of_any_kind(plan: Plan) -> Plan | None:
    match plan:
        case Union(Windowed(left, window), Windowed(right, same)) if window == same:
            return Windowed(Union(left, right), window)
    return None


TEMPTING: dict[Callable[[Plan], Plan | None], str] = {
    pull_up_any_negation: "negation",
    ask_before_an_anti_join: "negation",
    count_no_further_than_one: "negation",
    select_below_any_window: "selection",
    select_below_any_negation: "negation",
    select_below_a_stream_of_answers: "selection",
    narrow_any_outer_join: "selection",
    eliminate_before_an_nrr: "duplicates",
    eliminate_below_a_union: "duplicates",
    eliminate_below_any_projection: "duplicates",
    merge_windows_of_any_kind: "windows",
    eliminate_instead_of_group: "projection",  # as if it kept dates
}


@pytest.mark.parametrize("tempting", TEMPTING, ids=lambda rule: rule.__name__)
def test_a_rule_without_its_condition_is_found_out(tempting: Callable[[Plan], Plan | None]) -> None:
    rule = Rule(tempting.__name__, tempting, "wrong", keeps_dates=True)

    def is_wrong(case: tuple[Plan, History]) -> bool:
        plan, history = case
        steps = rewrite(plan, [rule]).steps
        return any(difference(step.before, step.after, history, dated=True) is not None for step in steps)

    find(rule_cases(TEMPTING[tempting]), is_wrong, settings=thorough, random=random.Random(7))
