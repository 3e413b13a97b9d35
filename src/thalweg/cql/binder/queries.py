"""Queries: SELECT, set operations, stream operators, WITH."""

from __future__ import annotations

from sqlglot import exp

from thalweg.algebra.catalog import View
from thalweg.algebra.expressions import Column, Expression, and_, coerce, column, columns_of, shift
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    Intersect,
    IStream,
    Named,
    Negation,
    Plan,
    Project,
    RStream,
    Select,
    Union,
)
from thalweg.core.errors import PlanError
from thalweg.core.types import DataType, common_type
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.order import apply_order
from thalweg.cql.binder.scope import NameScope
from thalweg.cql.binder.select import bind_projection
from thalweg.cql.binder.sources import BoundTable, bind_elements, join_all, nrr_last
from thalweg.cql.binder.subqueries import CorrelatedScope, bind_subquery, split_conditions
from thalweg.cql.syntax import ToStream

_STREAMS: dict[str, type[IStream | DStream | RStream]] = {"ISTREAM": IStream, "DSTREAM": DStream, "RSTREAM": RStream}


def bind_query(context: Context, node: exp.Expr) -> Plan:
    """The plan of a query."""
    context = _bind_with(context, node)
    match node:
        case exp.Select():
            return _bind_select(context, node)
        case exp.SetOperation():
            plan = combine_sets(context, node, bind_query(context, node.this), bind_query(context, node.expression))
        case ToStream():
            plan = _STREAMS[node.args["kind"]](bind_query(context, node.this))
        case exp.Subquery():
            plan = bind_query(context, node.this)
        case _:
            raise PlanError("expected a query", hint="SELECT ... FROM ...").at(context.span(node))
    return apply_order(context, node, plan)


def _bind_with(context: Context, node: exp.Expr) -> Context:
    clause = node.args.get("with_")
    if clause is None:
        return context
    if clause.args.get("recursive"):
        raise PlanError("WITH RECURSIVE is not part of CQL").at(context.span(clause))
    for cte in clause.expressions:
        plan = bind_query(context, cte.this)
        names = [c.name for c in cte.args["alias"].columns]
        with context.at(cte.args["alias"]):
            if [other.alias.casefold() for other in clause.expressions].count(cte.alias.casefold()) > 1:
                raise PlanError(f"the name {cte.alias} is taken", hint="choose another name")
            context = context.with_view(View(cte.alias, rename(plan, names) if names else plan))
    return context


def rename(plan: Plan, names: list[str]) -> Plan:
    """The plan with other column names."""
    if len(names) != len(plan.schema):
        raise PlanError(f"{len(names)} column names for a query with {len(plan.schema)} columns")
    if isinstance(plan, Project):
        renamed = tuple(Named(item.expression, name) for item, name in zip(plan.items, names, strict=True))
        return Project(plan.child, renamed)
    return Project(plan, tuple(Named(column(plan.schema, i), name) for i, name in enumerate(names)))


def _bind_select(context: Context, node: exp.Select) -> Plan:
    for clause in ("qualify", "windows", "laterals", "connect", "into", "sample", "hint"):
        if node.args.get(clause):
            raise PlanError(f"{clause.upper()} is not part of CQL", hint="see docs/grammar.md").at(context.span(node))
    source, _ = _bind_from_where(context, node)
    return bind_projection(context, node, source)


def _bind_from_where(
    context: Context, node: exp.Select, outer: NameScope | None = None, outer_width: int = 0
) -> tuple[BoundTable, list[Expression]]:
    """FROM and WHERE. Conditions that read columns of `outer` are returned separately; their columns are the
    outer ones, then this query's."""
    elements, scope = nrr_last(bind_elements(context, node, bind_query))
    where = node.args.get("where")
    plain, subqueries = split_conditions(where.this if where else None)
    seen = scope if outer is None else CorrelatedScope(scope.shifted(outer_width).columns, outer)
    bound = [ExpressionBinder(context, seen).bind_condition(part, "WHERE") for part in plain]
    correlated = [c for c in bound if any(i < outer_width for i in columns_of(c))]
    own = [shift(c, -outer_width) for c in bound if c not in correlated]
    with context.at(node.args["from_"]):
        plan, rest = join_all(elements, own)
    result = BoundTable(Select(plan, and_(rest)) if rest else plan, scope)
    for part in subqueries:
        result = bind_subquery(context, result, part, bind_query, _bind_from_where)
    return result, correlated


def combine_sets(context: Context, node: exp.SetOperation, left: Plan, right: Plan) -> Plan:
    """UNION, INTERSECT or EXCEPT of two bound queries, as `node` says."""
    with context.at(node):
        distinct = bool(node.args.get("distinct"))
        if node.args.get("on"):
            return _bind_negation_on(context, node, left, right, distinct)
        left, right = _same_types(left, right, node.key.upper())
        match node:
            case exp.Union():
                return Distinct(Union(left, right)) if distinct else Union(left, right)
            case exp.Intersect():
                return Intersect(Distinct(left), Distinct(right)) if distinct else Intersect(left, right)
        whole = tuple((i, i) for i in range(len(left.schema)))
        return Negation(Distinct(left), Distinct(right), whole) if distinct else Negation(left, right, whole)


def _bind_negation_on(context: Context, node: exp.SetOperation, left: Plan, right: Plan, distinct: bool) -> Plan:
    if distinct or not isinstance(node, exp.Except):
        raise PlanError("only EXCEPT ALL takes ON (columns)", hint="q1 EXCEPT ALL ON (src) q2")
    pairs = []
    for name in node.args["on"]:
        with context.at(name):
            a, b = (NameScope.of(side, None).resolve(name.name, None).index for side in (left, right))
            pairs.append((a, b))
    return Negation(left, right, tuple(pairs))


def _same_types(left: Plan, right: Plan, operation: str) -> tuple[Plan, Plan]:
    """Both sides with the types they have in common, the left side's names."""
    if len(left.schema) != len(right.schema):
        raise PlanError(
            f"{operation} needs as many columns on both sides, got {len(left.schema)} and {len(right.schema)}",
            candidates=(str(left.schema), str(right.schema)),
        )
    types = []
    for a, b in zip(left.schema, right.schema, strict=True):
        common = common_type(a.type, b.type)
        if common is None:
            raise PlanError(f"{operation} cannot match {a} with {b}", hint="CAST one of them")
        types.append(common)
    return _as_types(left, types), _as_types(right, types)


def _as_types(plan: Plan, types: list[DataType]) -> Plan:
    if list(plan.schema.types) == types:
        return plan
    items = [coerce(Column(i, f.type, f.name), t) for i, (f, t) in enumerate(zip(plan.schema, types, strict=True))]
    return Project(plan, tuple(Named(item, f.name) for item, f in zip(items, plan.schema, strict=True)))
