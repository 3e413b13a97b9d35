"""`table("s").window("RANGE 10").where("a > 1")`: each step binds at once and gives a new table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import Expression
from thalweg.algebra.plan import (
    Distinct,
    DStream,
    IStream,
    JoinKind,
    Plan,
    RStream,
    Select,
    SemiJoin,
    Windowed,
)
from thalweg.algebra.windows import Window
from thalweg.core.errors import PlanError
from thalweg.core.schema import Schema
from thalweg.core.time import Instant
from thalweg.cql.binder.sources import BoundTable
from thalweg.cql.build import QueryBuilder
from thalweg.fluent.column import Col, lit

Item = str | Col
How = Literal["inner", "left", "right", "full"]


@dataclass(frozen=True)
class Table:
    """A stream, a relation or a query over them. Immutable; conditions and items are CQL text or `Col`s."""

    _bound: BoundTable
    _builder: QueryBuilder

    @staticmethod
    def of(catalog: Catalog, name: str, today: Instant | None = None) -> Table:
        """The stream, relation or view called `name`."""
        builder = QueryBuilder(catalog, today)
        return Table(builder.source(name), builder)

    def require(self, catalog: Catalog) -> None:
        """The table must be built on this catalogue: names mean other things elsewhere."""
        if self._builder.catalog is not catalog:
            raise PlanError("this table belongs to another session", hint="build it with this session's table(...)")

    @property
    def plan(self) -> Plan:
        """The logical plan so far."""
        return self._bound.plan

    @property
    def schema(self) -> Schema:
        """The columns so far."""
        return self.plan.schema

    def _with(self, plan: Plan) -> Table:
        """Another plan with the same columns under the same names."""
        return replace(self, _bound=BoundTable(plan, self._bound.scope))

    def _new(self, plan: Plan) -> Table:
        """A plan whose columns have new names."""
        return replace(self, _bound=self._builder.unnamed(plan))

    def alias(self, name: str) -> Table:
        """Another name to qualify columns with: `name.a`."""
        return replace(self, _bound=self._builder.alias(self._bound, name))

    def window(self, window: str | Window) -> Table:
        """Put a window on a stream: the text between CQL's brackets, or a window object."""
        if isinstance(window, Window):
            return self._with(Windowed(self.plan, window))
        return self._with(self._builder.window(self.plan, window))

    def where(self, condition: Item) -> Table:
        """Keep the rows for which the condition is true."""
        return self._with(Select(self.plan, self._condition(self._bound, condition, "WHERE")))

    def select(self, *items: Item) -> Table:
        """Compute columns; `*` and `t.*` stand for all."""
        if not items:
            raise PlanError("select() needs at least one column", hint='select("*") takes all')
        return self._new(self._builder.project(self._bound, expressions=list(map(_node, items))))

    def distinct(self) -> Table:
        """Each row once."""
        return self._with(Distinct(self.plan))

    def group_by(self, *keys: Item) -> GroupedTable:
        """Form groups; continue with `.agg(...)`."""
        return GroupedTable(self, keys)

    def agg(self, *aggregates: Item) -> Table:
        """Aggregate everything into one row."""
        return self.group_by().agg(*aggregates)

    def order_by(self, *keys: Item) -> OrderedTable:
        """Order rows; continue with `.limit(n)` for the top n."""
        return OrderedTable(self, keys)

    def join(self, other: Table, on: Item | None = None, how: How = "inner") -> Table:
        """Join on a condition over both tables; without one, all pairs."""
        return replace(self, _bound=self._builder.join(self._bound, other._bound, _optional(on), JoinKind(how)))

    def semi_join(self, other: Table, on: Item) -> Table:
        """The rows that have a partner (EXISTS)."""
        return self._semi(other, on, anti=False)

    def anti_join(self, other: Table, on: Item) -> Table:
        """The rows that have no partner (NOT EXISTS)."""
        return self._semi(other, on, anti=True)

    def _semi(self, other: Table, on: Item, anti: bool) -> Table:
        both = self._builder.side_by_side(self._bound, other._bound)
        return self._with(SemiJoin(self.plan, other.plan, self._condition(both, on, "ON"), anti))

    def union_all(self, other: Table) -> Table:
        """Both bags together."""
        return self._set(exp.Union, other, distinct=False)

    def union(self, other: Table) -> Table:
        """Each row of either once."""
        return self._set(exp.Union, other, distinct=True)

    def intersect_all(self, other: Table) -> Table:
        """The lesser number of copies of each row."""
        return self._set(exp.Intersect, other, distinct=False)

    def intersect(self, other: Table) -> Table:
        """The rows that both have, once."""
        return self._set(exp.Intersect, other, distinct=True)

    def except_all(self, other: Table, on: str | list[str] | None = None) -> Table:
        """Copies beyond those of the other; with `on`, compared by these columns only (negation)."""
        return self._set(exp.Except, other, distinct=False, on=[on] if isinstance(on, str) else on)

    def except_(self, other: Table) -> Table:
        """The rows that the other has not, once."""
        return self._set(exp.Except, other, distinct=True)

    def _set(self, kind: type[exp.SetOperation], other: Table, distinct: bool, on: list[str] | None = None) -> Table:
        return self._new(self._builder.set_operation(kind, self.plan, other.plan, distinct, on))

    def istream(self) -> Table:
        """The stream of rows the answer gains."""
        return self._new(IStream(self.plan))

    def dstream(self) -> Table:
        """The stream of rows the answer loses."""
        return self._new(DStream(self.plan))

    def rstream(self) -> Table:
        """The whole answer at every instant it changes."""
        return self._new(RStream(self.plan))

    def _condition(self, bound: BoundTable, condition: Item, where: str) -> Expression:
        return self._builder.condition(bound, _node(condition), where)

    def __repr__(self) -> str:
        return f"<table {', '.join(map(str, self.schema))}>"


@dataclass(frozen=True)
class GroupedTable:
    """A table with keys, waiting for its aggregates."""

    _table: Table
    _keys: tuple[Item, ...]

    def agg(self, *aggregates: Item, having: Item | None = None) -> Table:
        """The keys and these aggregates, one row per group; `having` keeps some groups."""
        table = self._table
        keys = list(map(_node, self._keys))
        items = keys + list(map(_node, aggregates))
        plan = table._builder.project(
            table._bound, expressions=items, group=keys, having=_optional(having), grouped=True
        )
        return table._new(plan)


@dataclass(frozen=True)
class OrderedTable:
    """A table with an order, waiting for its limit."""

    _table: Table
    _keys: tuple[Item, ...]

    def limit(self, count: int) -> Table:
        """The first `count` rows."""
        if not self._keys:
            raise PlanError("order_by() needs at least one key", hint='order_by("a desc")')
        table = self._table
        return table._with(table._builder.top(table._bound, list(map(_node, self._keys)), count))


def _node(item: Item) -> str | exp.Expr:
    return item if isinstance(item, str) else lit(item).node


def _optional(item: Item | None) -> str | exp.Expr | None:
    return None if item is None else _node(item)
