"""The SELECT list with GROUP BY, HAVING, DISTINCT, ORDER BY and LIMIT."""

from __future__ import annotations

from typing import TypeVar

from sqlglot import exp

from thalweg.algebra.expressions import Column
from thalweg.algebra.plan import Distinct, Named, Plan, Project, Select, SortKey, TopK
from thalweg.core.errors import NameNotFoundError, PlanError
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.grouping import GroupedBinder, has_aggregate
from thalweg.cql.binder.order import order_items, read_limit, sort_key
from thalweg.cql.binder.scope import NameScope
from thalweg.cql.binder.sources import BoundTable

T = TypeVar("T")


def bind_projection(context: Context, node: exp.Select, source: BoundTable) -> Plan:
    """Everything above FROM and WHERE."""
    binder = _binder(context, node, source)
    items = _select_items(context, node, source.scope, binder)
    having = node.args.get("having")
    condition = binder.bind_condition(having.this, "HAVING") if having else None
    limit = read_limit(context, node)
    keys = [_sort_key(context, k, items, binder) for k in order_items(node)] if limit is not None else []

    plan = binder.group_by(source.plan) if isinstance(binder, GroupedBinder) else source.plan
    if condition is not None:
        plan = Select(plan, condition)
    positions = [_position(items, key) for key in keys]
    if limit is not None and None in positions:
        if node.args.get("distinct"):
            raise PlanError("with SELECT DISTINCT, ORDER BY may use selected columns only").at(
                context.span(node.args["order"])
            )
        return _project(TopK(plan, tuple(keys), limit), items)
    plan = _project(plan, items)
    if node.args.get("distinct"):
        plan = _distinct(context, node, plan)
    if limit is None:
        return plan
    outer = [
        SortKey(Column(p or 0, key.expression.type, items[p or 0].name), key.descending, key.nulls_first)
        for p, key in zip(positions, keys, strict=True)
    ]
    return TopK(plan, tuple(outer), limit)


def _binder(context: Context, node: exp.Select, source: BoundTable) -> ExpressionBinder:
    group, having = node.args.get("group"), node.args.get("having")
    order = node.args.get("order")
    clauses = [*node.expressions, *([having.this] if having else []), *(order.expressions if order else [])]
    if group is None and not any(has_aggregate(context, clause) for clause in clauses):
        if having is not None:
            raise PlanError("HAVING needs GROUP BY or an aggregate", hint="use WHERE").at(context.span(having))
        return ExpressionBinder(context, source.scope)
    return GroupedBinder(context, source.scope, _group_keys(context, node, source.scope) if group else [])


def _group_keys(context: Context, node: exp.Select, scope: NameScope) -> list[Named]:
    group = node.args["group"]
    forms = (exp.Rollup, exp.Cube, exp.GroupingSets)  # keys to newer versions of sqlglot, arguments to older ones
    if any(group.args.get(form) for form in ("rollup", "cube", "grouping_sets", "totals", "all")) or any(
        isinstance(key, forms) for key in group.expressions
    ):
        raise PlanError("ROLLUP, CUBE and GROUPING SETS are not part of CQL", hint="UNION ALL of several GROUP BYs").at(
            context.span(group)
        )
    below = ExpressionBinder(context, scope)
    return [_group_key(context, key, node, below) for key in group.expressions]


def _group_key(context: Context, key: exp.Expr, node: exp.Select, below: ExpressionBinder) -> Named:
    """A key is an expression over the input, the number of a selected item, or the alias of one."""
    chosen = key
    if isinstance(key, exp.Literal) and not key.is_string:
        with context.at(key):
            chosen = _unalias(_ordinal(node.expressions, key, "GROUP BY"))
    elif isinstance(key, exp.Column) and not key.table and not below.scope.find(key.name, None):
        aliased = [e for e in node.expressions if isinstance(e, exp.Alias) and _is_named(e, key.name)]
        chosen = _unalias(aliased[0]) if aliased else key
    name = key.name if isinstance(key, exp.Column) else _name_of(chosen, 0)
    return Named(below.bind(chosen), name)


def _select_items(context: Context, node: exp.Select, scope: NameScope, binder: ExpressionBinder) -> list[Named]:
    items: list[Named] = []
    for item in node.expressions:
        star = item.this if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else item
        if isinstance(star, exp.Star):
            if isinstance(binder, GroupedBinder):
                raise PlanError("* cannot stand in a grouped SELECT", hint="name the grouped columns").at(
                    context.span(item)
                )
            with context.at(item):
                qualifier = item.table or None if isinstance(item, exp.Column) else None
                items += [Named(c.to_expression(), c.name) for c in scope.star(qualifier)]
        else:
            items.append(Named(binder.bind(_unalias(item)), _name_of(item, len(items))))
    return items


def _sort_key(context: Context, node: exp.Ordered, items: list[Named], binder: ExpressionBinder) -> SortKey:
    """A key is the number or the name of a selected item, or any expression the SELECT list could hold."""
    inner = node.this
    with context.at(inner):
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return sort_key(node, _ordinal(items, inner, "ORDER BY").expression)
        if isinstance(inner, exp.Column) and not inner.table:
            named = [i for i in items if i.name.casefold() == inner.name.casefold()]
            if named:
                return sort_key(node, named[0].expression)
    return sort_key(node, binder.bind(inner))


def _position(items: list[Named], key: SortKey) -> int | None:
    return next((i for i, item in enumerate(items) if item.expression == key.expression), None)


def _project(plan: Plan, items: list[Named]) -> Plan:
    """The projection, unless it would change nothing."""
    same = [
        item.expression == Column(i, f.type) and item.name == f.name
        for i, (item, f) in enumerate(zip(items, plan.schema, strict=False))
    ]
    return plan if len(items) == len(plan.schema) and all(same) else Project(plan, tuple(items))


def _distinct(context: Context, node: exp.Select, plan: Plan) -> Plan:
    if node.args["distinct"].args.get("on"):
        raise PlanError(
            "DISTINCT ON is not part of CQL", hint="[PARTITION BY key ROWS 1] keeps the last row of each key"
        ).at(context.span(node))
    return Distinct(plan)


def _ordinal(items: list[T], node: exp.Literal, clause: str) -> T:
    position = int(node.this) if str(node.this).isdigit() else 0
    if not 1 <= position <= len(items):
        raise NameNotFoundError(f"{clause} {node.this} is not the number of a selected column (1 to {len(items)})")
    return items[position - 1]


def _unalias(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _is_named(node: exp.Alias, name: str) -> bool:
    return node.alias.casefold() == name.casefold()


def _name_of(node: exp.Expr, position: int) -> str:
    """The column name of a selected item: its alias, its column, its function, else `colN`."""
    match node:
        case exp.Alias():
            return node.alias
        case exp.Column():
            return node.name
        case exp.Anonymous():
            return node.name.lower()
        case exp.Filter():
            return _name_of(node.this, position)
    return f"col{position + 1}"
