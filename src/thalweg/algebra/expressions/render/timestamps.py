"""Functions of timestamps as SQL."""

from __future__ import annotations

from thalweg.algebra.expressions.functions import DATE_TRUNC_UNITS
from thalweg.algebra.expressions.render.dialect import Site, Writer, constant, double, each
from thalweg.algebra.expressions.render.guards import let, timestamp, to_micros
from thalweg.algebra.expressions.render.strings import STRINGS
from thalweg.core.time import FIRST_TIMESTAMP, LAST_TIMESTAMP
from thalweg.core.types import DataType


def _part(name: str) -> Writer:
    return each(f"{name}({{0}})", f"CAST({name}({{0}}) AS BIGINT)")


def _epoch(site: Site) -> str:
    return f"(CAST({to_micros(site, 0)} AS DOUBLE) / {double(1e6, site.dialect)})"


def _to_timestamp(site: Site) -> str:
    low, high = (double(float(t), site.dialect) for t in (FIRST_TIMESTAMP, LAST_TIMESTAMP + 1))

    def body(micros: str) -> str:
        moment = timestamp(f"CAST({micros} AS BIGINT)", site.dialect)
        return f"CASE WHEN {micros} >= {low} AND {micros} < {high} THEN {moment} END"

    return let("micros_", f"round({site.args[0]} * {double(1e6, site.dialect)})", site.dialect, body)


def _date_trunc(site: Site) -> str:
    unit, moment = site.args
    known = site.constant(0)
    if isinstance(known, str):
        if known.lower() not in DATE_TRUNC_UNITS:
            return constant(None, DataType.TIMESTAMP, site.dialect)
        return f"date_trunc('{known.lower()}', {moment})"
    lower = STRINGS["lower"](Site(site.call, (unit,), site.dialect))

    def body(unit: str, moment: str) -> str:
        branches = " ".join(f"WHEN '{u}' THEN date_trunc('{u}', {moment})" for u in DATE_TRUNC_UNITS)
        return f"CASE {unit} {branches} END"

    return let("unit_", lower, site.dialect, lambda u: let("t_", moment, site.dialect, lambda t: body(u, t)))


TIMESTAMPS: dict[str, Writer] = {
    "year": _part("year"),
    "month": _part("month"),
    "day": _part("day"),
    "dayofweek": each("dayofweek({0})", "CAST(dayofweek({0}) - 1 AS BIGINT)"),
    "dayofyear": _part("dayofyear"),
    "hour": _part("hour"),
    "minute": _part("minute"),
    "second": _part("second"),
    "epoch": _epoch,
    "to_timestamp": _to_timestamp,
    "date_trunc": _date_trunc,
}
