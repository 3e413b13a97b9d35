"""ORDER BY ... LIMIT n: the windowed top-k."""

from __future__ import annotations

from sqlglot import exp

from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import Plan, SortKey, TopK
from thalweg.core.errors import PlanError
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.scope import NameScope


def order_items(node: exp.Expr) -> list[exp.Ordered]:
    """The items of ORDER BY."""
    order = node.args.get("order")
    return list(order.expressions) if order else []


def read_limit(context: Context, node: exp.Expr) -> int | None:
    """The n of ORDER BY ... LIMIT n; None if there is neither. One without the other has no exact answer."""
    order, limit = node.args.get("order"), node.args.get("limit")
    if node.args.get("offset"):
        raise PlanError("OFFSET is not part of CQL", hint="raise the LIMIT").at(context.span(node.args["offset"]))
    if order is None and limit is None:
        return None
    if limit is None:
        raise PlanError("ORDER BY needs LIMIT: an answer is a bag and has no order", hint="ORDER BY ... LIMIT n").at(
            context.span(order)
        )
    count = limit.expression
    with context.at(count or limit):
        if order is None:
            raise PlanError("LIMIT needs ORDER BY, or the choice of rows would not be fixed", hint="ORDER BY a LIMIT n")
        if not isinstance(count, exp.Literal) or not str(count.this).isdigit():
            raise PlanError("LIMIT wants a whole number")
        return int(count.this)


def sort_key(node: exp.Ordered, expression: Expression) -> SortKey:
    """The key with its direction; NULLs last unless said otherwise."""
    return SortKey(expression, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def apply_order(context: Context, node: exp.Expr, plan: Plan) -> Plan:
    """ORDER BY and LIMIT behind a set operation or a parenthesised query: over its output columns."""
    limit = read_limit(context, node)
    if limit is None:
        return plan
    binder = ExpressionBinder(context, NameScope.of(plan, None))
    keys = [sort_key(k, _output(context, k.this, plan, binder)) for k in order_items(node)]
    return TopK(plan, tuple(keys), limit)


def _output(context: Context, node: exp.Expr, plan: Plan, binder: ExpressionBinder) -> Expression:
    if isinstance(node, exp.Literal) and str(node.this).isdigit():
        position = int(node.this)
        if not 1 <= position <= len(plan.schema):
            raise PlanError(f"ORDER BY {position} is not the number of a column (1 to {len(plan.schema)})").at(
                context.span(node)
            )
        return NameScope.of(plan, None).columns[position - 1].to_expression()
    return binder.bind(node)
