"""IN, NOT IN, EXISTS and NOT EXISTS with a subquery become semi- and anti-joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from thalweg.algebra.expressions import TRUE, Column, Expression, and_, call, columns_of
from thalweg.algebra.plan import Plan, SemiJoin
from thalweg.core.errors import PlanError
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.grouping import has_aggregate
from thalweg.cql.binder.scope import NameScope, ScopeColumn
from thalweg.cql.binder.sources import BindQuery, BoundTable

# FROM and WHERE of a subquery: the plan, and the conditions that read columns of the outer query.
BindCorrelated = Callable[[Context, exp.Select, NameScope, int], tuple[BoundTable, list[Expression]]]


@dataclass(frozen=True)
class CorrelatedScope(NameScope):
    """Names of a subquery; those it does not know are looked up outside."""

    outer: NameScope

    def resolve(self, name: str, qualifier: str | None) -> ScopeColumn:
        """Inside first, then outside."""
        if not self.find(name, qualifier) and self.outer.find(name, qualifier):
            return self.outer.resolve(name, qualifier)
        return super().resolve(name, qualifier)


def split_conditions(where: exp.Expr | None) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The parts of a conjunction: plain conditions, and those that are IN or EXISTS with a subquery."""
    plain: list[exp.Expr] = []
    subqueries: list[exp.Expr] = []
    for part in _conjuncts(where):
        (subqueries if _predicate(part) is not None else plain).append(part)
    return plain, subqueries


def bind_subquery(
    context: Context, left: BoundTable, node: exp.Expr, bind_query: BindQuery, bind_correlated: BindCorrelated
) -> BoundTable:
    """`left` cut down to the rows that the IN or EXISTS predicate lets through."""
    with context.at(node):
        predicate, anti = _predicate(node) or (node, False)
        query = predicate.args["query"] if isinstance(predicate, exp.In) else predicate.this
        while isinstance(query, exp.Subquery) and not query.args.get("limit"):
            query = query.this
        tested = _tested(context, left.scope, predicate) if isinstance(predicate, exp.In) else []
        right, items, conditions = _right_side(context, left, query, len(tested), bind_query, bind_correlated)
        comparison = and_([call("=", a, b) for a, b in zip(tested, items, strict=True)]) if tested else None
        if comparison is not None:
            # NOT IN keeps a row only if the comparison is false for all: unknown counts as a partner.
            conditions = [call("coalesce", comparison, TRUE) if anti else comparison, *conditions]
        return BoundTable(SemiJoin(left.plan, right, and_(conditions), anti), left.scope)


def _right_side(
    context: Context,
    left: BoundTable,
    query: exp.Expr,
    columns: int,
    bind_query: BindQuery,
    bind_correlated: BindCorrelated,
) -> tuple[Plan, list[Expression], list[Expression]]:
    """The subquery's plan, its compared columns and its correlated conditions, over left then right columns."""
    width = len(left.plan.schema)
    if isinstance(query, exp.Select) and _is_plain(context, query):
        inner, conditions = bind_correlated(context, query, left.scope, width)
        scope = CorrelatedScope(inner.scope.shifted(width).columns, left.scope)
        items = ExpressionBinder(context, scope).bind_all(query.expressions) if columns else []
        if columns and len(items) != columns:
            raise _arity(columns, len(items))
        if conditions or any(i < width for item in items for i in columns_of(item)):
            return inner.plan, items, conditions
    plan = bind_query(context, query)
    if columns and len(plan.schema) != columns:
        raise _arity(columns, len(plan.schema))
    return plan, [Column(width + i, plan.schema[i].type, plan.schema[i].name) for i in range(columns)], []


def _is_plain(context: Context, query: exp.Select) -> bool:
    """Whether a subquery is only SELECT FROM WHERE, so that a condition may read outer columns."""
    if any(query.args.get(clause) for clause in ("group", "having", "distinct", "limit", "order", "with_")):
        return False
    return not any(has_aggregate(context, item) for item in query.expressions)


def _tested(context: Context, scope: NameScope, predicate: exp.In) -> list[Expression]:
    subject = predicate.this
    parts: Sequence[exp.Expr] = subject.expressions if isinstance(subject, exp.Tuple) else [subject]
    return ExpressionBinder(context, scope).bind_all(parts)


def _arity(wanted: int, got: int) -> PlanError:
    return PlanError(f"IN compares {wanted} column{'s' * (wanted != 1)}, but its subquery has {got}")


def _conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    found, left = list[exp.Expr](), [] if node is None else [node]
    while left:  # a chain may be longer than Python's stack
        match part := left.pop():
            case exp.And():
                left += [part.expression, part.this]
            case exp.Paren():
                left.append(part.this)
            case exp.Not() if isinstance(part.this, exp.Paren):
                found.append(exp.Not(this=part.this.unnest()))
            case _:
                found.append(part)
    return found


def _predicate(node: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """The IN or EXISTS with a subquery that `node` is, and whether it is negated."""
    negated = isinstance(node, exp.Not)
    inner = node.this if negated else node
    if isinstance(inner, exp.Exists) or (isinstance(inner, exp.In) and inner.args.get("query") is not None):
        return inner, negated
    return None
