"""Three-valued logic, comparison and choice as SQL."""

from __future__ import annotations

from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, both, each
from thalweg.algebra.expressions.render.guards import let, nullif


def _in(site: Site) -> str:
    value, members = site.args[0], ", ".join(site.args[1:])
    if site.dialect is Dialect.DUCKDB:  # DuckDB computes the value again for each member
        return let("value_", value, site.dialect, lambda v: f"({v} IN ({members}))")
    return f"({value} IN ({members}))"


def _pick(function: str) -> Writer:
    def write(site: Site) -> str:
        # Spark's GREATEST and LEAST take at least two arguments.
        return site.args[0] if len(site.args) == 1 else f"{function}({', '.join(site.args)})"

    return write


LOGIC: dict[str, Writer] = {
    "and": both("({0} AND {1})"),
    "or": both("({0} OR {1})"),
    "not": both("(NOT {0})"),
    "=": both("({0} = {1})"),
    "<>": both("({0} <> {1})"),
    "<": both("({0} < {1})"),
    "<=": both("({0} <= {1})"),
    ">": both("({0} > {1})"),
    ">=": both("({0} >= {1})"),
    "is_distinct": each("({0} IS DISTINCT FROM {1})", "(NOT ({0} <=> {1}))"),
    "is_null": both("({0} IS NULL)"),
    "in": _in,
    "greatest": _pick("GREATEST"),
    "least": _pick("LEAST"),
    "coalesce": _pick("COALESCE"),
    "nullif": lambda site: nullif(site.args[0], site.args[1], site.dialect),
}
