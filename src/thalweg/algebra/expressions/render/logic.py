"""Three-valued logic, comparison and choice as SQL."""

from __future__ import annotations

from thalweg.algebra.expressions.render.dialect import Site, Writer, both, each


def _in(site: Site) -> str:
    value, *members = site.args
    return f"({value} IN ({', '.join(members)}))"


def _pick(function: str) -> Writer:
    def write(site: Site) -> str:
        # Spark's GREATEST wants two.
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
    "nullif": both("NULLIF({0}, {1})"),
}
