"""Declarations: what CREATE and REGISTER put into the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from thalweg.algebra.catalog import Relation, Stream, View
from thalweg.algebra.plan import Plan
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.errors import NameNotFoundError, PlanError, TypeMismatchError
from thalweg.core.schema import Field, Schema
from thalweg.core.time import SECOND, Clock
from thalweg.core.types import TYPE_NAMES, DataType
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.queries import bind_query, rename
from thalweg.cql.binder.windows import extent_ticks, positive_ticks
from thalweg.cql.syntax import CreateRelation, CreateStream, CreateView, Declaration, Rate, RegisterQuery


@dataclass(frozen=True)
class RegisteredQuery:
    """A query to run, with its name (None if the statement gave none)."""

    name: str | None
    plan: Plan


def bind_statement(context: Context, node: exp.Expr) -> RegisteredQuery | None:
    """Carry out a statement: declarations go into the catalogue, queries are returned."""
    match node:
        case CreateStream():
            entry: Stream | Relation | View = _stream(context, node)
        case CreateRelation():
            entry = _relation(context, node)
        case CreateView():
            entry = View(node.name_node.name, _view_plan(context, node))
        case RegisterQuery():
            entry = View(node.name_node.name, bind_query(context, node.args["query"]))
        case _:
            return RegisteredQuery(None, bind_query(context, node))
    assert isinstance(node, Declaration)
    with context.at(node.name_node):
        context.catalog.add(entry)
    if isinstance(node, RegisterQuery):
        assert isinstance(entry, View)
        return RegisteredQuery(entry.name, entry.plan)
    return None


def _schema(context: Context, node: Declaration) -> Schema:
    fields: list[Field] = []
    seen: set[str] = set()
    for column in node.args["columns"]:
        if column.this.name.casefold() in seen:
            raise PlanError(f"the column {column.this.name} is declared twice").at(context.span(column.this))
        seen.add(column.this.name.casefold())
        fields.append(Field(column.this.name, TYPE_NAMES[column.args["type_name"]]))
    return Schema(tuple(fields))


def _position(context: Context, schema: Schema, name: exp.Expr) -> int:
    found = schema.find(name.name)
    if not found:
        raise NameNotFoundError(f"there is no column {name.name}", candidates=schema.names).at(context.span(name))
    return found[0]


def _stream(context: Context, node: CreateStream) -> Stream:
    schema = _schema(context, node)
    timestamp = None
    if node.args.get("timestamp") is not None:
        timestamp = _position(context, schema, node.args["timestamp"])
        if schema[timestamp].type is not DataType.TIMESTAMP:
            raise TypeMismatchError(
                f"TIMESTAMP BY wants a TIMESTAMP column, {schema[timestamp].name} is {schema[timestamp].type}",
                candidates=[f.name for f in schema if f.type is DataType.TIMESTAMP],
                hint="without TIMESTAMP BY, a row's time is the integer it is pushed with",
            ).at(context.span(node.args["timestamp"]))
    lateness = node.args.get("lateness")
    clock = Clock.TICKS if timestamp is None else Clock.TIMESTAMPS
    with context.at(lateness):
        ticks = extent_ticks(lateness, "LATENESS", clock) if lateness is not None else None
        if ticks is not None and ticks < 0:
            raise PlanError(f"LATENESS must not be negative, got {ticks}")
    return Stream(node.name_node.name, schema, timestamp, ticks, _statistics(context, node, clock))


def _statistics(
    context: Context, node: CreateStream | CreateRelation, clock: Clock | None = None
) -> SourceStatistics | None:
    """What the declaration says of rates and numbers; None if nothing."""
    columns = [column for column in node.args["columns"] if column.args.get("distinct") is not None]
    rows, rate = node.args.get("rows"), node.args.get("rate")
    if not columns and rows is None and rate is None:
        return None
    with context.at(node.name_node):
        distinct = {column.this.name: float(column.args["distinct"].this) for column in columns}
        return SourceStatistics(
            None if rate is None or clock is None else _per_tick(rate, clock),
            None if rows is None else float(rows.this),
            distinct,
        )


def _per_tick(rate: Rate, clock: Clock) -> float:
    default = SECOND if clock is Clock.TIMESTAMPS else 1
    per = rate.args.get("per")
    return float(rate.this.this) / (default if per is None else positive_ticks(per, "PER", clock))


def _relation(context: Context, node: CreateRelation) -> Relation:
    schema = _schema(context, node)
    kind = "RELATION" if node.args["retroactive"] else "NRR"
    key = tuple(_position(context, schema, name) for name in node.args.get("key") or [])
    if not key:
        raise PlanError(
            f"{kind} {node.name_node.name} needs a key: updates and deletes find their row by it",
            candidates=schema.names,
            hint=f"add PRIMARY KEY ({schema.names[0]})",
        ).at(context.span(node.name_node))
    return Relation(node.name_node.name, schema, key, bool(node.args["retroactive"]), _statistics(context, node))


def _view_plan(context: Context, node: CreateView) -> Plan:
    plan = bind_query(context, node.args["query"])
    names = node.args.get("columns")
    with context.at(node.name_node):
        return rename(plan, [n.name for n in names]) if names else plan
