"""Single steps of binding, for callers without a whole text, such as the fluent Python API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import TRUE, Expression
from thalweg.algebra.plan import JoinKind, Plan, TopK
from thalweg.core.errors import CqlSyntaxError
from thalweg.core.source_text import SourceText, Span
from thalweg.core.time import Instant
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.expressions import ExpressionBinder
from thalweg.cql.binder.order import sort_key
from thalweg.cql.binder.queries import bind_query, combine_sets
from thalweg.cql.binder.scope import NameScope
from thalweg.cql.binder.select import bind_projection
from thalweg.cql.binder.sources import BoundTable, bind_source, join_bound
from thalweg.cql.binder.windows import bind_window
from thalweg.cql.dialect import Cql
from thalweg.cql.parser import CqlParseError, CqlParser
from thalweg.cql.syntax import FromItem, StreamWindow
from thalweg.cql.window_syntax import parse_window

TextOrNode = str | exp.Expr
T = TypeVar("T")


@dataclass(frozen=True)
class QueryBuilder:
    """Binds pieces of CQL text, or syntax nodes, against what has been built so far."""

    catalog: Catalog
    today: Instant | None = None
    _plain: Context = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_plain", self._context(""))

    def source(self, name: str) -> BoundTable:
        """A stream, relation or view."""
        context = self._context(name)
        node = exp.to_identifier(name, quoted=True)
        return bind_source(context, FromItem(this=node), bind_query)

    def unnamed(self, plan: Plan) -> BoundTable:
        """A plan whose columns are known by their own names only."""
        return BoundTable(plan, NameScope.of(plan, None))

    def alias(self, bound: BoundTable, name: str) -> BoundTable:
        """The same columns, qualified by `name`."""
        return BoundTable(bound.plan, NameScope(tuple(replace(c, qualifier=name) for c in bound.scope.columns)))

    def window(self, plan: Plan, text: str) -> Plan:
        """The plan under the window `text`, with or without brackets."""
        context, node = self._window(text)
        return bind_window(context, plan, node)

    def window_columns(self, text: str) -> list[str]:
        """The names of the columns in the window `text`; they are not looked up."""
        _, node = self._window(text)
        return [column.name for column in (*(node.args.get("partition") or ()), node.args.get("on")) if column]

    def _window(self, text: str) -> tuple[Context, StreamWindow]:
        context, node = self._parse(text if text.lstrip().startswith("[") else f"[{text}]", parse_window)
        assert node is not None
        return context, node

    def condition(self, bound: BoundTable, condition: TextOrNode, where: str) -> Expression:
        """A condition over the columns so far."""
        context, node = self._node(condition)
        return ExpressionBinder(context, bound.scope).bind_condition(node, where)

    def project(
        self,
        bound: BoundTable,
        expressions: Sequence[TextOrNode],
        group: Sequence[TextOrNode] = (),
        having: TextOrNode | None = None,
        grouped: bool = False,
    ) -> Plan:
        """SELECT expressions [GROUP BY group] [HAVING having] over the columns so far."""
        context, items = self._nodes(expressions)
        _, keys = self._nodes(group)
        select = exp.Select(expressions=items)
        if grouped and keys:
            select.set("group", exp.Group(expressions=[k.this if isinstance(k, exp.Alias) else k for k in keys]))
        if having is not None:
            select.set("having", exp.Having(this=self._node(having)[1]))
        return bind_projection(context, select, bound)

    def top(self, bound: BoundTable, keys: Sequence[TextOrNode], count: int) -> Plan:
        """ORDER BY keys LIMIT count over the columns so far."""
        context, nodes = self._nodes(keys, ordered=True)
        binder = ExpressionBinder(context, bound.scope)
        ordered = [n if isinstance(n, exp.Ordered) else exp.Ordered(this=n) for n in nodes]
        return TopK(bound.plan, tuple(sort_key(o, binder.bind(o.this)) for o in ordered), count)

    def side_by_side(self, left: BoundTable, right: BoundTable) -> BoundTable:
        """The names of both tables, as a join's condition sees them. The plan is the left one's."""
        return BoundTable(left.plan, left.scope + right.scope.shifted(len(left.plan.schema)))

    def join(self, left: BoundTable, right: BoundTable, on: TextOrNode | None, kind: JoinKind) -> BoundTable:
        """A join; an NRR join if either side is an NRR."""
        context, node = (self._plain, None) if on is None else self._node(on)

        def condition(scope: NameScope) -> tuple[Expression, NameScope]:
            if node is None:
                return TRUE, scope
            return ExpressionBinder(context, scope).bind_condition(node, "ON"), scope

        return join_bound(left, right, kind, condition)

    def set_operation(
        self, kind: type[exp.SetOperation], left: Plan, right: Plan, distinct: bool, on: Sequence[str] | None
    ) -> Plan:
        """UNION, INTERSECT or EXCEPT of two plans."""
        columns = [exp.column(name) for name in on] if on else None
        return combine_sets(self._plain, kind(distinct=distinct, on=columns), left, right)

    # -- text to nodes

    def _context(self, text: str) -> Context:
        return Context(self.catalog, SourceText(text, "expression"), self.today)

    def _node(self, item: TextOrNode) -> tuple[Context, exp.Expr]:
        context, nodes = self._nodes([item])
        return context, nodes[0]

    def _nodes(self, items: Sequence[TextOrNode], ordered: bool = False) -> tuple[Context, list[exp.Expr]]:
        """Syntax nodes of the items. Texts are read as one, so that an error can point into it."""
        method = _parse_ordered if ordered else _parse_items
        texts = [item for item in items if isinstance(item, str)]
        context, parsed = self._parse(", ".join(texts), method) if texts else (self._plain, [])
        if len(texts) == len(items):
            return context, parsed
        if len(parsed) != len(texts):
            raise CqlSyntaxError("beside column objects, each text must be a single item", span=context.span(parsed[0]))
        rest = iter(parsed)
        return context, [item if isinstance(item, exp.Expr) else next(rest) for item in items]

    def _parse(self, text: str, method: Callable[[CqlParser], T]) -> tuple[Context, T]:
        context = self._context(text)
        dialect = Cql()
        parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
        try:
            # sqlglot's types say that a parse method gives a node; ours may give a list.
            (result,) = parser._parse(cast(Any, method), dialect.tokenize(text), text)
        except CqlParseError as error:
            span = Span(context.text, error.start, error.end)
            raise CqlSyntaxError(error.message, span=span, hint=error.hint) from None
        return context, cast(T, result)


def _parse_items(parser: CqlParser) -> list[exp.Expr]:
    return parser._parse_expressions()


def _parse_ordered(parser: CqlParser) -> list[exp.Expr]:
    return parser._parse_csv(parser._parse_ordered)
