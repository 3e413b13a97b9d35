"""FROM: names, subqueries, windows, aliases, and the joins between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from thalweg.algebra.catalog import Relation, Stream
from thalweg.algebra.expressions import TRUE, Expression, and_, call, columns_of
from thalweg.algebra.plan import Join, JoinKind, NrrJoin, Plan, RelationScan, StreamScan, is_nrr
from thalweg.core.errors import PlanError
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.scope import NameScope
from thalweg.cql.binder.windows import bind_window
from thalweg.cql.parser import COMMA
from thalweg.cql.syntax import FromItem

BindQuery = Callable[[Context, exp.Expr], Plan]


@dataclass(frozen=True)
class BoundTable:
    """A plan and the names for its columns."""

    plan: Plan
    scope: NameScope


def bind_elements(context: Context, select: exp.Select, bind_query: BindQuery) -> list[BoundTable]:
    """The comma-separated elements of FROM, each with its explicit joins done."""
    first = select.args.get("from_")
    if first is None:
        raise PlanError("SELECT needs FROM", hint="SELECT ... FROM stream [RANGE 5]").at(context.span(select))
    elements = [bind_source(context, first.this, bind_query)]
    for join in select.args.get("joins") or []:
        right = bind_source(context, join.this, bind_query)
        if _is_comma(join):
            elements.append(right)
        else:
            elements[-1] = _explicit_join(context, elements[-1], right, join)
    _check_qualifiers(context, select)
    return elements


def bind_source(context: Context, node: exp.Expr, bind_query: BindQuery) -> BoundTable:
    """One FROM item with its window and alias."""
    assert isinstance(node, FromItem)
    alias = node.args.get("alias")
    if isinstance(node.this, exp.Identifier):
        with context.at(node.this):
            plan = _scan(context, node.this.name)
        qualifier: str | None = node.this.name
    else:
        plan, qualifier = bind_query(context, node.this), None
    if node.args.get("window") is not None:
        plan = bind_window(context, plan, node.args["window"])
    scope = NameScope.of(plan, alias.name if alias and alias.name else qualifier)
    return BoundTable(plan, _rename(context, scope, alias) if alias and alias.columns else scope)


def join_all(elements: Sequence[BoundTable], conditions: Sequence[Expression]) -> tuple[Plan, list[Expression]]:
    """A left-deep join of comma elements; a condition over several goes to the first join that has its columns.

    Columns of `conditions` are numbered over all elements, in their order. Conditions on one element are returned.
    """
    plan = elements[0].plan
    ends = [len(plan.schema)]
    rest = list(conditions)
    for element in elements[1:]:
        start, end = ends[-1], ends[-1] + len(element.plan.schema)
        here = [c for c in rest if _spans(c, start, end)]
        rest = [c for c in rest if c not in here]
        plan = make_join(plan, element.plan, and_(here), JoinKind.INNER)
        ends.append(end)
    return plan, rest


def nrr_last(elements: Sequence[BoundTable]) -> tuple[list[BoundTable], NameScope]:
    """The elements in joining order (an NRR must be the right side of a join), and a scope in FROM's order."""
    ordered = sorted(elements, key=lambda e: is_nrr(e.plan))
    offsets: dict[int, int] = {}
    total = 0
    for element in ordered:
        offsets[id(element)] = total
        total += len(element.plan.schema)
    scope = NameScope(())
    for element in elements:
        scope = scope + element.scope.shifted(offsets[id(element)])
    return ordered, scope


def make_join(left: Plan, right: Plan, condition: Expression, kind: JoinKind) -> Plan:
    """A join, or an NRR join if the right side is an NRR."""
    if is_nrr(right) and not is_nrr(left):
        return NrrJoin(left, right, condition, kind)
    return Join(left, right, condition, kind)


def _scan(context: Context, name: str) -> Plan:
    match context.lookup(name):
        case Stream() as stream:
            return StreamScan(stream)
        case Relation() as relation:
            return RelationScan(relation)
        case view:
            return view.plan


def _rename(context: Context, scope: NameScope, alias: exp.TableAlias) -> NameScope:
    names = [c.name for c in alias.columns]
    if len(names) != len(scope.columns):
        raise PlanError(f"{alias.name} names {len(names)} columns, but there are {len(scope.columns)}").at(
            context.span(alias)
        )
    return NameScope(tuple(replace(c, name=n) for c, n in zip(scope.columns, names, strict=True)))


def _is_comma(join: exp.Join) -> bool:
    return bool(join.args.get("kind") == COMMA)


def join_bound(
    left: BoundTable, right: BoundTable, kind: JoinKind, condition: Callable[[NameScope], tuple[Expression, NameScope]]
) -> BoundTable:
    """A join of two tables with names; `condition` is called with the names of both.

    An NRR on the left becomes the right side of the join; names keep their order.
    """
    swapped = is_nrr(left.plan) and not is_nrr(right.plan)
    if swapped:
        kind = {JoinKind.RIGHT: JoinKind.LEFT, JoinKind.LEFT: JoinKind.RIGHT}.get(kind, kind)
    a, b = (right, left) if swapped else (left, right)
    shifted = b.scope.shifted(len(a.plan.schema))
    bound, scope = condition(shifted + a.scope if swapped else a.scope + shifted)
    return BoundTable(make_join(a.plan, b.plan, bound, kind), scope)


def _explicit_join(context: Context, left: BoundTable, right: BoundTable, join: exp.Join) -> BoundTable:
    with context.at(join):
        kind = _join_kind(join)
        width = len(left.scope.columns)
        return join_bound(left, right, kind, lambda scope: _join_condition(context, scope, width, kind, join))


def _join_kind(join: exp.Join) -> JoinKind:
    words = [str(join.args.get(part) or "").upper() for part in ("method", "side", "kind")]
    said = " ".join(word for word in words if word)
    method, side, kind = words
    if method or kind not in ("", "INNER", "OUTER", "CROSS") or (kind == "OUTER" and not side):
        way_out = {
            "NATURAL": "write the condition with ON",
            "OUTER": "say which side keeps its rows: LEFT, RIGHT or FULL OUTER JOIN",
        }
        semi = "WHERE EXISTS (...) and NOT EXISTS (...) are semi- and anti-joins"
        raise PlanError(f"{said} JOIN is not part of CQL", hint=way_out.get(said, semi))
    if kind == "CROSS" and (join.args.get("on") is not None or join.args.get("using")):
        raise PlanError("CROSS JOIN takes no condition", hint="JOIN ... ON condition")
    return JoinKind[side or "INNER"]


def _join_condition(
    context: Context, scope: NameScope, left_width: int, kind: JoinKind, join: exp.Join
) -> tuple[Expression, NameScope]:
    on, using = join.args.get("on"), join.args.get("using")
    if using:
        if kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise PlanError(f"USING cannot merge the columns of a {kind.name} JOIN", hint="write ON a.x = b.x")
        return _using(context, scope, left_width, using)
    if on is not None:
        return ExpressionBinder(context, scope).bind_condition(on, "ON"), scope
    if (join.args.get("kind") or "").upper() != "CROSS":
        raise PlanError("JOIN needs a condition", hint="JOIN ... ON a.x = b.x, or CROSS JOIN for all pairs")
    return TRUE, scope


def _using(context: Context, scope: NameScope, width: int, names: Sequence[exp.Expr]) -> tuple[Expression, NameScope]:
    left, right = NameScope(scope.columns[:width]), NameScope(scope.columns[width:])
    parts, merged = [], set()
    for name in names:
        with context.at(name):
            a, b = left.resolve(name.name, None), right.resolve(name.name, None)
            parts.append(call("=", a.to_expression(), b.to_expression()))
            merged.add(b.index)
    hidden = tuple(replace(c, merged=True) if c.index in merged else c for c in right.columns)
    return and_(parts), left + NameScope(hidden)


def _spans(condition: Expression, start: int, end: int) -> bool:
    """Whether a condition reads columns in [start, end), and columns before them, but none after them."""
    read = columns_of(condition)
    return bool(read) and min(read) < start <= max(read) < end


def _check_qualifiers(context: Context, select: exp.Select) -> None:
    seen: set[str] = set()
    for source in _sources(select):
        name = source.alias or source.this.name
        if name and name.casefold() in seen:
            raise PlanError(
                f"{name} stands twice in FROM", hint=f"give one of them an alias: FROM {name} AS a, {name} AS b"
            ).at(context.span(source))
        seen.add(name.casefold())


def _sources(select: exp.Select) -> list[FromItem]:
    return [select.args["from_"].this] + [join.this for join in select.args.get("joins") or []]
