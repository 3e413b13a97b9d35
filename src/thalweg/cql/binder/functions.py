"""How CQL's spellings of functions and operators map to the names in `algebra.expressions.functions`."""

from __future__ import annotations

from sqlglot import exp

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import AGGREGATES, UserAggregate
from thalweg.algebra.expressions.functions import FUNCTIONS

BINARY: dict[type[exp.Expr], str] = {
    exp.And: "and",
    exp.Or: "or",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.NullSafeNEQ: "is_distinct",
}

# Other names people use for the same function.
ALIASES: dict[str, str] = {
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "len": "length",
    "ucase": "upper",
    "lcase": "lower",
    "substr": "substring",
    "instr": "strpos",
    "pow": "power",
    "mod": "%",
    "log": "ln",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "startswith": "starts_with",
    "endswith": "ends_with",
    "dow": "dayofweek",
    "doy": "dayofyear",
    "dayofmonth": "day",
    "unix_timestamp": "epoch",
}

AGGREGATE_ALIASES: dict[str, str] = {
    "mean": "avg",
    "stddev_samp": "stddev",
    "std": "stddev",
    "var_samp": "variance",
    "var": "variance",
}

# EXTRACT(field FROM ts)
FIELDS: dict[str, str] = {
    **{f: f for f in ("year", "month", "day", "hour", "minute", "second", "epoch", "dayofweek", "dayofyear")},
    "dow": "dayofweek",
    "doy": "dayofyear",
}

CALLABLE = sorted(f for f in FUNCTIONS if f.isidentifier() and f not in ("and", "or", "not", "in", "negate"))

# Functions of the current time, which CQL does not have: their values would change at every instant.
CLOCKS = ("now", "current_timestamp", "current_date", "current_time", "current_datetime")

BUILT_IN = frozenset([*CALLABLE, *ALIASES, *AGGREGATES, *AGGREGATE_ALIASES, *CLOCKS, "if"])


def find_aggregate(catalog: Catalog, name: str) -> str | UserAggregate | None:
    """The aggregate called `name`: the proper name of a built-in one, or a user's; None if there is none."""
    built_in = AGGREGATE_ALIASES.get(name.lower(), name.lower())
    return built_in if built_in in AGGREGATES else catalog.aggregate(name)


def all_functions(catalog: Catalog) -> list[str]:
    """Every function and aggregate that a query may call, as an error lists them."""
    return [
        name.upper() for name in [*CALLABLE, *AGGREGATES, *(a.name for a in catalog.aggregates), *catalog.functions]
    ]
