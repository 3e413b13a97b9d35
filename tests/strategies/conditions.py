"""Scalars, predicates and join conditions for drawn plans: simple ones, whose value is exact in every engine.

A column computed from an AVG has a name that starts with `avg`: its sum depends on the order of addition in an engine
that does not round exactly (DuckDB), so drawn plans never sum it.
"""

from __future__ import annotations

from hypothesis import strategies as st

from strategies.catalog import values
from thalweg.algebra.expressions import TRUE, Aggregate, Expression, Literal, call, case, column, columns_of
from thalweg.core.schema import Schema
from thalweg.core.types import DataType

_COMPARISONS = st.sampled_from(["=", "<", ">=", "<>"])
_NUMERIC = (DataType.BIGINT, DataType.DOUBLE)


def positions(schema: Schema, type_: DataType) -> list[int]:
    """The columns of a type."""
    return [i for i, field in enumerate(schema) if field.type is type_]


def name_for(expression: Expression, schema: Schema, otherwise: str) -> str:
    """A column's name that remembers an AVG below it."""
    inexact = any(schema[i].name.startswith("avg") for i in columns_of(expression))
    return f"avg_{otherwise}" if inexact else otherwise


def literals(type_: DataType) -> st.SearchStrategy[Expression]:
    """A constant, NULL included."""
    return values(type_).map(lambda value: Literal(value, type_))


def atoms(schema: Schema, type_: DataType) -> st.SearchStrategy[Expression]:
    """A column, or a constant if there is no column of the type."""
    found = positions(schema, type_)
    return st.sampled_from([column(schema, i) for i in found]) if found else literals(type_)


def scalars(schema: Schema, type_: DataType) -> st.SearchStrategy[Expression]:
    """A column or a small computation of the given type."""
    atom = atoms(schema, type_)
    made: list[st.SearchStrategy[Expression]] = [
        atom,
        atom,
        st.builds(lambda a, b: call("coalesce", a, b), atom, literals(type_)),
        st.builds(lambda p, a, b: case([(p, a)], b), comparisons(schema), atom, literals(type_)),
    ]
    if type_ in _NUMERIC:
        operators = st.sampled_from(["+", "-", "*"])
        made.append(st.builds(call, operators, atom, atom | literals(type_)))
    if type_ is DataType.BOOLEAN:
        made.append(comparisons(schema))
    return st.one_of(made)


def any_scalar(schema: Schema) -> st.SearchStrategy[Expression]:
    """A scalar of one of the schema's types."""
    return st.sampled_from(schema.types).flatmap(lambda type_: scalars(schema, type_))


@st.composite
def comparisons(draw: st.DrawFn, schema: Schema) -> Expression:
    """A column compared with a constant or another column, or tested for NULL."""
    one = column(schema, draw(st.integers(0, len(schema) - 1)))
    if draw(st.integers(0, 5)) == 5:
        return call("is_null", one)
    other = draw(literals(one.type) | atoms(schema, one.type))
    return call(draw(_COMPARISONS), one, other)


def predicates(schema: Schema) -> st.SearchStrategy[Expression]:
    """A comparison, or a combination of two in three-valued logic."""
    one = comparisons(schema)
    return st.one_of(
        one,
        one,
        st.builds(call, st.sampled_from(["and", "or"]), one, one),
        st.builds(lambda p: call("not", p), one),
    )


@st.composite
def join_conditions(draw: st.DrawFn, left: Schema, right: Schema) -> Expression:
    """Equality (alone, null-safe, as NOT IN asks it, or with more), an inequality, or nothing."""
    both = left + right
    width = len(left)
    pairs = [(i, width + j) for i, a in enumerate(left) for j, b in enumerate(right) if a.type is b.type]
    if not pairs:
        return draw(predicates(both))
    i, j = draw(st.sampled_from(pairs))
    a, b = column(both, i), column(both, j)
    equal = call("=", a, b)
    match draw(st.integers(0, 9)):
        case 9:
            return TRUE
        case 8:
            return call("or", equal, call("is_null", equal))
        case 7:
            return call("not", call("is_distinct", a, b))
        case 6:
            return call(draw(st.sampled_from(["<", ">=", "<>"])), a, b)
        case 5:
            return call("and", equal, draw(comparisons(both)))
        case 4:
            return draw(predicates(both))
        case _:
            return equal


@st.composite
def aggregates(draw: st.DrawFn, schema: Schema, exact: bool = True) -> Aggregate:
    """An aggregate over a scalar; deviations only where `exact` is not asked for."""
    function = draw(st.sampled_from(["count", "sum", "max", "min", "avg", "count(*)"] + _DEVIATIONS * (not exact)))
    if function == "count(*)":
        return Aggregate.of("count")
    if function in ("count", "min", "max"):
        return Aggregate.of(function, draw(any_scalar(schema)), draw(st.booleans()))
    summable = [t for t in _NUMERIC if positions(schema, t)] or [DataType.BIGINT]
    argument = draw(st.sampled_from(summable).flatmap(lambda type_: scalars(schema, type_)))
    if name_for(argument, schema, "").startswith("avg"):
        return Aggregate.of("count", argument)
    return Aggregate.of(function, argument, draw(st.booleans()))


_DEVIATIONS = ["stddev", "stddev_pop", "variance", "var_pop"]
