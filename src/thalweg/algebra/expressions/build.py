"""Checked constructors: the only way other code makes calls, casts and cases."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions.functions import FUNCTIONS, accepted, resolve
from thalweg.algebra.expressions.nodes import Call, Case, Cast, Column, Expression, Literal
from thalweg.algebra.expressions.user_function import UserFunction
from thalweg.core.errors import DataError, NameNotFoundError, TypeMismatchError, did_you_mean
from thalweg.core.rows import Value
from thalweg.core.schema import Schema
from thalweg.core.time import parse_duration, parse_timestamp
from thalweg.core.types import DataType, common_type

TRUE = Literal(True, DataType.BOOLEAN)
FALSE = Literal(False, DataType.BOOLEAN)
NULL = Literal(None, DataType.NULL)


def literal(value: Value) -> Literal:
    """A constant of the type its Python value has."""
    match value:
        case None:
            return NULL
        case bool():
            return Literal(value, DataType.BOOLEAN)
        case int():
            return Literal(value, DataType.BIGINT)
        case float():
            return Literal(None if value != value else value, DataType.DOUBLE)  # NaN is NULL
        case str():
            return Literal(value, DataType.STRING)


def column(schema: Schema, index: int) -> Column:
    """The column at `index` of `schema`."""
    return Column(index, schema[index].type, schema[index].name)


def call(function: str, *args: Expression) -> Call:
    """`function(args)`, with arguments converted to the types of the overload they fit."""
    if function not in FUNCTIONS:
        raise NameNotFoundError(
            f"there is no function {function.upper()}",
            hint=did_you_mean(function, FUNCTIONS) or _list_functions(),
        )
    args = _read_strings(function, args)
    overload = resolve(function, [a.type for a in args])
    if overload is None:
        given = ", ".join(str(a.type) for a in args)
        raise TypeMismatchError(
            f"{function.upper()} does not take ({given})",
            candidates=accepted(function),
            hint="CAST(... AS type) converts",
        )
    return Call(function, tuple(map(coerce, args, overload.args)), overload.result)


def user_call(function: UserFunction, args: Sequence[Expression]) -> Call:
    """A user's function of arguments that have its types, or are BIGINT or NULL where they may be."""
    given = [arg.type for arg in args]
    fits = len(given) == len(function.takes) and all(
        have in (want, DataType.NULL) or (have is DataType.BIGINT and want is DataType.DOUBLE)
        for have, want in zip(given, function.takes, strict=False)
    )
    if not fits:
        wanted = ", ".join(map(str, function.takes))
        raise TypeMismatchError(
            f"{function.upper()} does not take ({', '.join(map(str, given))})",
            candidates=[f"{function.upper()}({wanted})"],
            hint="CAST(... AS type) converts",
        )
    return Call(function, tuple(map(coerce, args, function.takes)), function.returns)


def cast(operand: Expression, to: DataType) -> Expression:
    """`operand` as `to`; a constant or a value that already has the type stays as it is."""
    if operand.type is to:
        return operand
    if operand.type is DataType.NULL:  # NULL is NULL in any type
        return Literal(None, to)
    if isinstance(operand, Literal) and operand.value is None:
        return Literal(None, to)
    if (operand.type, to) not in CASTS:
        allowed = sorted(str(t) for f, t in CASTS if f is operand.type)
        raise TypeMismatchError(f"{operand.type} cannot be cast to {to}", candidates=allowed)
    return Cast(operand, to)


def coerce(operand: Expression, to: DataType) -> Expression:
    """The implicit conversion an overload asks for: BIGINT to DOUBLE, NULL to anything."""
    if isinstance(operand, Literal) and operand.type is DataType.BIGINT and to is DataType.DOUBLE:
        assert isinstance(operand.value, int)
        return Literal(float(operand.value), DataType.DOUBLE)
    return cast(operand, to)


def case(branches: Sequence[tuple[Expression, Expression]], default: Expression = NULL) -> Case:
    """CASE with conditions checked and results brought to one type."""
    result: DataType = DataType.NULL
    for value in [value for _, value in branches] + [default]:
        merged = common_type(result, value.type)
        if merged is None:
            raise TypeMismatchError(f"CASE gives {result} in one branch and {value.type} in another")
        result = merged
    whens = tuple((require_boolean(condition, "CASE WHEN"), coerce(value, result)) for condition, value in branches)
    return Case(whens, coerce(default, result), result)


def require_boolean(condition: Expression, where: str) -> Expression:
    """`condition`, or an error if it is not a truth value."""
    if condition.type is DataType.NULL:
        return cast(condition, DataType.BOOLEAN)
    if condition.type is not DataType.BOOLEAN:
        raise TypeMismatchError(
            f"{where} wants a BOOLEAN, got {condition.type}", hint="compare it with something: ... <> 0"
        )
    return condition


def and_(parts: Sequence[Expression]) -> Expression:
    """The conjunction of `parts`; TRUE if there are none."""
    return chain("and", parts) if parts else TRUE


_LONGEST_CHAIN = 64


def chain(function: str, parts: Sequence[Expression]) -> Expression:
    """AND or OR of parts, from left to right; of very many parts as a tree that is not deep, for it is walked down."""
    if len(parts) > _LONGEST_CHAIN:
        half = len(parts) // 2
        return call(function, chain(function, parts[:half]), chain(function, parts[half:]))
    result = parts[0]
    for part in parts[1:]:
        result = call(function, result, part)
    return result


def flattened(expression: Expression, function: str) -> list[Expression]:
    """The arguments of nested calls of AND or OR, from left to right."""
    found, left = list[Expression](), [expression]
    while left:
        part = left.pop()
        if isinstance(part, Call) and part.function == function:
            left += reversed(part.args)
        else:
            found.append(part)
    return found


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of a conjunction, flattened; TRUE has none."""
    return [part for part in flattened(condition, "and") if part != TRUE]


CASTS: frozenset[tuple[DataType, DataType]] = frozenset(
    [
        (DataType.BOOLEAN, DataType.BIGINT),
        (DataType.BOOLEAN, DataType.STRING),
        (DataType.BIGINT, DataType.BOOLEAN),
        (DataType.BIGINT, DataType.DOUBLE),
        (DataType.BIGINT, DataType.STRING),
        (DataType.DOUBLE, DataType.BIGINT),
        (DataType.DOUBLE, DataType.STRING),
        (DataType.STRING, DataType.BOOLEAN),
        (DataType.STRING, DataType.BIGINT),
        (DataType.STRING, DataType.DOUBLE),
        (DataType.STRING, DataType.TIMESTAMP),
        (DataType.TIMESTAMP, DataType.STRING),
    ]
)


def _read_strings(function: str, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """A string constant beside a TIMESTAMP or INTERVAL is read as one: `ts > '2026-01-01'`."""
    types = {a.type for a in args}
    if types == {DataType.STRING, DataType.TIMESTAMP} and function in _COMPARING:
        return tuple(_as_time(a, DataType.TIMESTAMP) for a in args)
    if types == {DataType.STRING, DataType.INTERVAL} and function in _COMPARING:
        return tuple(_as_time(a, DataType.INTERVAL) for a in args)
    return args


_COMPARING = frozenset({"=", "<>", "<", "<=", ">", ">=", "is_distinct", "in", "greatest", "least", "coalesce"})


def _as_time(operand: Expression, to: DataType) -> Expression:
    if not isinstance(operand, Literal) or not isinstance(operand.value, str):
        return operand
    try:
        read = parse_timestamp if to is DataType.TIMESTAMP else parse_duration
        return Literal(read(operand.value), to)
    except DataError as error:
        raise TypeMismatchError(error.message, hint=error.hint) from None


def _list_functions() -> str:
    return "functions: " + ", ".join(sorted(f.upper() for f in FUNCTIONS if f.isidentifier()))
