"""Scalars, predicates and join conditions for drawn plans: simple ones, whose value is exact in every engine.

A column computed from an AVG has a name that starts with `avg`: its sum depends on the order of addition in an engine
that does not round exactly (DuckDB), so drawn plans never sum it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from strategies.aggregates import USER_AGGREGATES
from strategies.catalog import VALUES
from strategies.dice import Dice
from thalweg.algebra.expressions import (
    TRUE,
    Aggregate,
    Column,
    Expression,
    Literal,
    and_,
    call,
    case,
    column,
    columns_of,
    map_columns,
)
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

_COMPARISONS = ["=", "<", ">=", "<>", "<=", ">"]
_NUMERIC = (DataType.BIGINT, DataType.DOUBLE)
_DEVIATIONS = ["stddev", "stddev_pop", "variance", "var_pop"]


def positions(schema: Schema, type_: DataType) -> list[int]:
    """The columns of a type."""
    return [i for i, field in enumerate(schema) if field.type is type_]


def name_for(expression: Expression | None, schema: Schema, otherwise: str) -> str:
    """A column's name that remembers an AVG below it."""
    inexact = expression is not None and any(schema[i].name.startswith("avg") for i in columns_of(expression))
    return f"avg_{otherwise}" if inexact else otherwise


def a_literal(dice: Dice, type_: DataType) -> Expression:
    """A constant; seldom NULL, which makes most conditions trivial."""
    *values, null = VALUES[type_]
    return Literal(null if dice.chance(10) else dice.pick(values), type_)


def an_atom(dice: Dice, schema: Schema, type_: DataType) -> Expression:
    """A column, or a constant if there is no column of the type."""
    found = positions(schema, type_)
    return column(schema, dice.pick(found)) if found else a_literal(dice, type_)


def a_scalar(dice: Dice, schema: Schema, type_: DataType) -> Expression:
    """A column or a small computation of the given type."""
    match dice.number(0, 8):
        case 8:
            return case([(a_comparison(dice, schema), an_atom(dice, schema, type_))], a_literal(dice, type_))
        case 7:
            return call("coalesce", an_atom(dice, schema, type_), a_literal(dice, type_))
        case 5 | 6 if type_ in _NUMERIC:
            other = an_atom(dice, schema, type_) if dice.chance(2) else a_literal(dice, type_)
            return call(dice.pick(["+", "-", "*"]), an_atom(dice, schema, type_), other)
        case 5 | 6 if type_ is DataType.BOOLEAN:
            return a_comparison(dice, schema)
        case _:
            return an_atom(dice, schema, type_)


def any_scalar(dice: Dice, schema: Schema) -> Expression:
    """A scalar of one of the schema's types, or a truth value."""
    return a_scalar(dice, schema, dice.pick([*schema.types, DataType.BOOLEAN]))


def a_comparison(dice: Dice, schema: Schema) -> Expression:
    """A column compared with a constant or another column, or tested for NULL."""
    one = column(schema, dice.number(0, len(schema) - 1))
    if dice.chance(6):
        return call("is_null", one)
    other = an_atom(dice, schema, one.type) if dice.chance(4) else a_literal(dice, one.type)
    return call(dice.pick(_COMPARISONS), one, other)


def a_predicate(dice: Dice, schema: Schema) -> Expression:
    """A comparison, or a combination of two in three-valued logic."""
    one = a_comparison(dice, schema)
    match dice.number(0, 5):
        case 5:
            return call("and", one, a_comparison(dice, schema))
        case 4:
            return call("or", one, a_comparison(dice, schema))
        case 3:
            return call("not", one)
        case _:
            return one


def a_join_condition(dice: Dice, left: Schema, right: Schema) -> Expression:
    """Equality (alone, null-safe, as NOT IN asks it, or with more), an inequality, or nothing."""
    both, width = left + right, len(left)
    pairs = [(i, width + j) for i, a in enumerate(left) for j, b in enumerate(right) if a.type is b.type]
    if not pairs:
        return a_predicate(dice, both)
    one, other = (column(both, i) for i in dice.pick(pairs))
    equal = call("=", one, other)
    match dice.number(0, 11):
        case 11:
            return TRUE
        case 10:
            return call("or", equal, call("is_null", equal))
        case 9:
            return call("not", call("is_distinct", one, other))
        case 8:
            return call(dice.pick(["<", ">=", "<>"]), one, other)
        case 7:
            return call("and", equal, a_comparison(dice, both))
        case 6:
            return a_predicate(dice, both)
        case _:
            return equal


def a_multi_join_condition(dice: Dice, schemas: Sequence[Schema]) -> Expression:
    """Conditions of pairs: a chain, a star, a cycle or less; at times one over all inputs."""
    offsets = [sum(map(len, schemas[:i])) for i in range(len(schemas))]
    parts: list[Expression] = []
    for i in range(1, len(schemas)):
        partners = [dice.number(0, i - 1)] if not dice.chance(4) else list(range(i))
        for j in partners:
            width = len(schemas[j])
            moved = partial(_placed, first=offsets[j], width=width, second=offsets[i])
            parts.append(map_columns(a_join_condition(dice, schemas[j], schemas[i]), moved))
    if dice.chance(4):
        parts.append(a_predicate(dice, Schema(tuple(field for schema in schemas for field in schema))))
    return and_(parts)


def _placed(c: Column, first: int, width: int, second: int) -> Column:
    """A column of a pair of inputs among the columns of all."""
    return Column(c.index + first if c.index < width else c.index - width + second, c.type, c.name)


def a_user_aggregate(dice: Dice, schema: Schema) -> Aggregate:
    """A user-defined aggregate over a scalar that it takes."""
    user = dice.pick(USER_AGGREGATES)
    argument = any_scalar(dice, schema) if user.takes is None else a_scalar(dice, schema, user.takes)
    return Aggregate.of(user, argument, dice.chance(3))


def an_aggregate(dice: Dice, schema: Schema, exact: bool) -> Aggregate:
    """A built-in aggregate over a scalar; deviations only where `exact` is not asked for."""
    function = dice.pick(["count(*)", "sum", "max", "min", "avg", "count"] + ([] if exact else _DEVIATIONS))
    if function == "count(*)":
        return Aggregate.of("count")
    if function in ("count", "min", "max"):
        return Aggregate.of(function, any_scalar(dice, schema), dice.chance(3))
    summable = [t for t in _NUMERIC if positions(schema, t)] or [DataType.BIGINT]
    argument = a_scalar(dice, schema, dice.pick(summable))
    if name_for(argument, schema, "").startswith("avg"):
        return Aggregate.of("count", argument)
    return Aggregate.of(function, argument, dice.chance(3))
