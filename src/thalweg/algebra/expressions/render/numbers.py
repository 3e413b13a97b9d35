"""Arithmetic and functions of numbers as SQL."""

from __future__ import annotations

from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, bigint, both, double, type_name
from thalweg.algebra.expressions.render.guards import checked, clamped, from_micros, to_micros, without_nan
from thalweg.core.types import INT64_MIN, DataType


def _ring(operator: str) -> Writer:
    def write(site: Site) -> str:
        if site.call.type is DataType.DOUBLE:
            return without_nan(f"({site.args[0]} {operator} {site.args[1]})", site.dialect)
        total = checked(operator, to_micros(site, 0), to_micros(site, 1), site.dialect)
        return from_micros(total, site.call.type, site.dialect)

    return write


def _divide(site: Site) -> str:
    left, right = site.args
    if site.types[0] is DataType.INTERVAL:
        left, right = (f"CAST({to_micros(site, i)} AS DOUBLE)" for i in (0, 1))
    return without_nan(f"({left} / NULLIF({right}, {double(0.0, site.dialect)}))", site.dialect)


def _modulo(site: Site) -> str:
    left, right = site.args
    if site.dialect is Dialect.SPARK:
        result = f"try_mod({left}, {right})"
    elif site.call.type is DataType.BIGINT:
        # The remainder by -1 is that by 1, without DuckDB's overflow.
        result = f"({left} % CASE {right} WHEN 0 THEN NULL WHEN -1 THEN 1 ELSE {right} END)"
    else:
        result = f"({left} % {right})"
    return without_nan(result, site.dialect) if site.call.type is DataType.DOUBLE else result


def _negate(site: Site) -> str:
    if site.call.type is DataType.DOUBLE:
        return f"(-({site.args[0]}))"
    result = checked("-", bigint(0, site.dialect), to_micros(site, 0), site.dialect)
    return from_micros(result, site.call.type, site.dialect)


def _abs(site: Site) -> str:
    if site.call.type is DataType.DOUBLE:
        return f"abs({site.args[0]})"
    return f"abs(NULLIF({site.args[0]}, {bigint(INT64_MIN, site.dialect)}))"


def _sign(site: Site) -> str:
    return f"CAST(sign({site.args[0]}) AS {site.call.type})"


def _whole(function: str) -> Writer:
    def write(site: Site) -> str:
        x = site.args[0]
        if site.dialect is Dialect.DUCKDB:
            return f"{function}({x})"
        # Spark gives a BIGINT; from 2^52 on every DOUBLE is whole.
        return f"CASE WHEN abs({x}) < 4503599627370496 THEN CAST({function}({x}) AS DOUBLE) ELSE {x} END"

    return write


def _round(site: Site) -> str:
    x = site.args[0]
    if site.call.type is DataType.BIGINT:
        return x
    if len(site.args) == 1:
        return f"round({x})"
    digits, value = site.args[1], site.constant(1)
    if isinstance(value, int):
        scale = double(float(f"1e{min(abs(value), 308)}"), site.dialect)
    else:
        exponent = f"CAST(abs({clamped(digits, -308, 308)}) AS {type_name(DataType.STRING, site.dialect)})"
        scale = f"CAST('1e' || {exponent} AS DOUBLE)"
    after, before = f"round({x} * {scale}) / {scale}", f"round({x} / {scale}) * {scale}"
    if isinstance(value, int):
        result = f"({after if value >= 0 else before})"
    else:
        result = f"CASE WHEN {digits} >= 0 THEN {after} ELSE {before} END"
    infinity = double(float("inf"), site.dialect)
    return f"CASE WHEN abs({result}) < {infinity} THEN {result} WHEN {digits} IS NOT NULL THEN {x} END"


def _within(domain: str, function: str) -> Writer:
    return both(f"CASE WHEN {{0}} {domain} 0 THEN {function}({{0}}) END")


def _power(site: Site) -> str:
    x, y = site.args
    infinity = double(float("inf"), site.dialect)
    # Java, unlike IEEE, gives NaN for a power of one to infinity.
    one = f"WHEN abs({x}) = 1 AND abs({y}) = {infinity} THEN 1 " if site.dialect is Dialect.SPARK else ""
    return f"CASE {one}WHEN {x} <> 0 OR {y} >= 0 THEN {without_nan(f'power({x}, {y})', site.dialect)} END"


NUMBERS: dict[str, Writer] = {
    "+": _ring("+"),
    "-": _ring("-"),
    "*": _ring("*"),
    "/": _divide,
    "%": _modulo,
    "negate": _negate,
    "abs": _abs,
    "sign": _sign,
    "ceil": _whole("ceil"),
    "floor": _whole("floor"),
    "round": _round,
    "sqrt": _within(">=", "sqrt"),
    "exp": both("exp({0})"),
    "ln": _within(">", "ln"),
    "log10": _within(">", "log10"),
    "power": _power,
}
