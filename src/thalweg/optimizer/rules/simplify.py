"""Rules that say the same in fewer words: constants, conditions, selections and projections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import assert_never

from thalweg.algebra.expressions import TRUE, Call, Case, Cast, Column, Expression, Literal, call
from thalweg.algebra.plan import GroupBy, Named, Plan, Project, Select
from thalweg.optimizer.conditions import fold, ordered, simplify
from thalweg.optimizer.conditions.once import once
from thalweg.optimizer.expressions import all_columns, substituted, with_condition, with_expressions

_fold, _ordered, _simplify = once(fold), once(ordered), once(simplify)


def fold_constants(plan: Plan) -> Plan | None:
    """f(c1, c2) = c; x AND TRUE = x; NOT (a < b) = (a >= b).

    What does not depend on the row is computed once. Always valid, in projections and aggregates too: the value stays
    the same for every row, NULL included.
    """
    return with_expressions(plan, _fold)


def order_conditions(plan: Plan) -> Plan | None:
    """p AND q = q AND p; (b > a) = (a < b): conditions of the same meaning get the same spelling.

    Sub-plans that differ in spelling alone become equal, and equal sub-plans run once. Always valid.
    """
    return with_expressions(plan, _ordered)


def simplify_condition(plan: Plan) -> Plan | None:
    """a > 3 AND a > 5 = a > 5; a = 1 AND a = 2 = FALSE; p AND (p OR q) = p.

    Leaves out duplicates and implied parts, and finds contradictions. Conditions of selections and joins only: there
    NULL drops a row as FALSE does. A projected `a <> a` is NULL where `a` is NULL, and must stay.
    """
    return with_condition(plan, _simplify)


def drop_true_selection(plan: Plan) -> Plan | None:
    """sigma_TRUE(S) = S."""
    match plan:
        case Select(child, predicate) if predicate == TRUE:
            return child
    return None


def merge_selections(plan: Plan) -> Plan | None:
    """sigma_p(sigma_q(S)) = sigma_{q AND p}(S).

    Always valid: a conjunction is true exactly where both parts are.
    """
    match plan:
        case Select(Select(child, below), above):
            return Select(child, call("and", below, above))
    return None


def drop_identity_projection(plan: Plan) -> Plan | None:
    """pi_{all columns}(S) = S, if the names stay the same too."""
    match plan:
        case Project(child, items) if items == all_columns(child.schema):
            return child
    return None


def merge_projections(plan: Plan) -> Plan | None:
    """pi_L(pi_M(S)) = pi_{L over M}(S).

    Columns of the lower projection that the upper one does not read disappear. Always valid; done unless the merged
    projection would compute an expression several times that was computed once.
    """
    match plan:
        case Project(Project(child, below), above):
            read = Counter(index for item in above for index in _reads(item.expression))
            if all(n == 1 or isinstance(below[i].expression, Column | Literal) for i, n in read.items()):
                return Project(child, tuple(Named(substituted(item.expression, below), item.name) for item in above))
    return None


def _reads(expression: Expression) -> Iterator[int]:
    """The position of each column, as often as the expression reads it."""
    match expression:
        case Column(index):
            yield index
        case Literal():
            return
        case Call(args=args):
            for arg in args:
                yield from _reads(arg)
        case Case(branches, default):
            for part in (*(part for branch in branches for part in branch), default):
                yield from _reads(part)
        case Cast(operand):
            yield from _reads(operand)
        case _:
            assert_never(expression)


def merge_projection_into_group_by(plan: Plan) -> Plan | None:
    """gamma_{K; A}(pi_L(S)) = gamma_{K over L; A over L}(S).

    Always valid: a group-by computes the expressions of its keys and arguments itself.
    """
    match plan:
        case GroupBy(Project(child, items)):
            return with_expressions(plan, lambda e: substituted(e, items), child)
    return None
