"""DISTINCT and GROUP BY as SQL."""

from __future__ import annotations

from thalweg.algebra.expressions import Aggregate
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.expressions.render.dialect import bigint
from thalweg.algebra.plan import Distinct, GroupBy
from thalweg.algebra.sql.text import Renderer, columns, dates
from thalweg.core.errors import PlanError
from thalweg.core.time import BEGINNING, FOREVER
from thalweg.core.types import NO_BIGINT, DataType

_NAMES = {"stddev": "STDDEV_SAMP", "variance": "VAR_SAMP"}


def distinct_sql(renderer: Renderer, plan: Distinct, dated: bool) -> str:
    """Each value once: the latest appearance, the last to expire."""
    child = renderer.sql(plan.child, dated)
    if not dated:
        return f"SELECT DISTINCT * FROM ({child}) AS w"
    value = ", ".join(columns(plan))
    return f"SELECT {value}, MAX(ts_) AS ts_, MAX(exp_) AS exp_ FROM ({child}) AS w GROUP BY {value}"


def group_sql(renderer: Renderer, plan: GroupBy, dated: bool) -> str:
    """Keys and arguments are computed first, then grouped by name, so that a constant key is no position."""
    keys = [f"{renderer.scalar(k.expression)} AS k{i}" for i, k in enumerate(plan.keys)]
    arguments = [a.aggregate.argument for a in plan.aggregates]
    values = [f"{renderer.scalar(e)} AS a{i}" for i, e in enumerate(arguments) if e is not None]
    inner = ", ".join(keys + values + dates(dated)) or "1 AS one_"
    shown = [f"k{i} AS c{i}" for i in range(len(keys))]
    shown += [
        f"{_aggregate(a.aggregate, f'a{i}', renderer.dialect)} AS c{len(keys) + i}"
        for i, a in enumerate(plan.aggregates)
    ]
    if dated:
        shown += [f"COALESCE(MAX(ts_), {BEGINNING}) AS ts_", f"{FOREVER} AS exp_"]
    grouping = f" GROUP BY {', '.join(f'k{i}' for i in range(len(keys)))}" if keys else ""
    return (
        f"SELECT {', '.join(shown)} FROM (SELECT {inner} FROM ({renderer.sql(plan.child, dated)}) AS v) AS w{grouping}"
    )


def _aggregate(spec: Aggregate, argument: str, dialect: Dialect) -> str:
    if spec.user is not None:
        raise PlanError(
            f"{spec} has no one-time SQL: {spec.user} is defined in Python", hint="the reference evaluates it"
        )
    if spec.argument is None:
        return "COUNT(*)"
    if spec.function == "sum" and spec.type is DataType.BIGINT:
        # Summed beyond 64 bits, then NULL if it does not fit: the order of addition must not show.
        argument = argument if dialect is Dialect.DUCKDB else f"CAST({argument} AS DECIMAL(38, 0))"
        total = f"TRY_CAST(SUM({'DISTINCT ' * spec.distinct}{argument}) AS BIGINT)"
        return f"NULLIF({total}, {bigint(NO_BIGINT, dialect)})"
    name = _NAMES.get(spec.function, spec.function.upper())
    return f"{name}({'DISTINCT ' * spec.distinct}{argument})"
