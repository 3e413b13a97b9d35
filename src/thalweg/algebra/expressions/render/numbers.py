"""Arithmetic and functions of numbers as SQL. Where a DOUBLE result can be NaN, `render` makes it NULL."""

from __future__ import annotations

from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, bigint, both, double, type_name
from thalweg.algebra.expressions.render.guards import checked, clamped, from_micros, let, nullif, to_micros
from thalweg.core.types import DataType

# KEEPS_NAN: DOUBLE operations that give NaN for NaN, so that one guard around the outermost is enough.
# GIVES_NAN: all DOUBLE operations that need a guard.
KEEPS_NAN = frozenset({"+", "-", "*", "/", "%", "negate"})
GIVES_NAN = KEEPS_NAN | {"power"}


def _ring(operator: str) -> Writer:
    def write(site: Site) -> str:
        if site.call.type is DataType.DOUBLE:
            return f"({site.args[0]} {operator} {site.args[1]})"
        total = checked(operator, to_micros(site, 0), to_micros(site, 1), site.dialect)
        return from_micros(total, site.call.type, site.dialect)

    return write


def _divide(site: Site) -> str:
    left, right = site.args
    if site.types[0] is DataType.INTERVAL:
        left, right = (f"CAST({to_micros(site, i)} AS DOUBLE)" for i in (0, 1))
    return f"({left} / {nullif(right, double(0.0, site.dialect), site.dialect)})"


def _modulo(site: Site) -> str:
    left, right = site.args
    if site.dialect is Dialect.SPARK:
        return f"try_mod({left}, {right})"
    if site.call.type is DataType.DOUBLE:
        return f"({left} % {nullif(right, double(0.0, site.dialect), site.dialect)})"
    # The remainder by -1 is that by 1, without DuckDB's overflow.
    divisor = let("by_", right, site.dialect, lambda by: f"CASE {by} WHEN 0 THEN NULL WHEN -1 THEN 1 ELSE {by} END")
    return f"({left} % {divisor})"


def _negate(site: Site) -> str:
    if site.call.type is DataType.DOUBLE:
        return f"(-({site.args[0]}))"
    result = checked("-", bigint(0, site.dialect), to_micros(site, 0), site.dialect)
    return from_micros(result, site.call.type, site.dialect)


def _abs(site: Site) -> str:
    return f"abs({site.args[0]})"


def _sign(site: Site) -> str:
    return f"CAST(sign({site.args[0]}) AS {site.call.type})"


def _whole(function: str) -> Writer:
    def write(site: Site) -> str:
        if site.dialect is Dialect.DUCKDB:
            return f"{function}({site.args[0]})"
        # Spark gives a BIGINT; from 2^52 on every DOUBLE is whole.
        return let(
            "x_",
            site.args[0],
            site.dialect,
            lambda x: f"CASE WHEN abs({x}) < 4503599627370496 THEN CAST({function}({x}) AS DOUBLE) ELSE {x} END",
        )

    return write


def _round(site: Site) -> str:
    if site.call.type is DataType.BIGINT:
        return site.args[0]
    if len(site.args) == 1:
        return f"round({site.args[0]})"
    return let(
        "x_", site.args[0], site.dialect, lambda x: let("n_", site.args[1], site.dialect, lambda n: _scaled(x, n, site))
    )


def _scaled(x: str, digits: str, site: Site) -> str:
    """Rounded after a shift of the point, unless that leaves the range of DOUBLE."""
    known = site.constant(1)
    if isinstance(known, int):
        scale = double(float(f"1e{min(abs(known), 308)}"), site.dialect)
    else:
        exponent = clamped(digits, -308, 308, site.dialect)
        scale = f"CAST('1e' || CAST(abs({exponent}) AS {type_name(DataType.STRING, site.dialect)}) AS DOUBLE)"
    after, before = f"(round({x} * {scale}) / {scale})", f"(round({x} / {scale}) * {scale})"
    if isinstance(known, int):
        result = after if known >= 0 else before
    else:
        result = f"CASE WHEN {digits} >= 0 THEN {after} ELSE {before} END"
    finite = f"< {double(float('inf'), site.dialect)}"
    return let(
        "r_",
        result,
        site.dialect,
        lambda r: f"CASE WHEN abs({r}) {finite} THEN {r} WHEN {digits} IS NOT NULL THEN {x} END",
    )


def _within(domain: str, function: str) -> Writer:
    return lambda site: let(
        "x_", site.args[0], site.dialect, lambda x: f"CASE WHEN {x} {domain} 0 THEN {function}({x}) END"
    )


def _power(site: Site) -> str:
    infinity = double(float("inf"), site.dialect)

    def body(x: str, y: str) -> str:
        # Java, unlike IEEE, gives NaN for a power of one to infinity.
        one = f"WHEN abs({x}) = 1 AND abs({y}) = {infinity} THEN 1 " if site.dialect is Dialect.SPARK else ""
        return f"CASE {one}WHEN {x} <> 0 OR {y} >= 0 THEN power({x}, {y}) END"

    base, exponent = site.args
    return let("x_", base, site.dialect, lambda x: let("y_", exponent, site.dialect, lambda y: body(x, y)))


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
