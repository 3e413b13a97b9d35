"""Operators that group rows by value, as SQL: DISTINCT, GROUP BY, EXCEPT ALL and INTERSECT ALL.

The last two are native SQL where only values count. Where dates choose the rows, the rows of a value are numbered.
"""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.expressions import Aggregate
from thalweg.algebra.expressions.render import Dialect
from thalweg.algebra.expressions.render.dialect import bigint
from thalweg.algebra.plan import Distinct, GroupBy, Intersect, Negation, Plan
from thalweg.algebra.sql.text import Renderer, columns, dates, select_list
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
    """Keys and arguments are computed first, then grouped by name, because SQL reads a constant key as a position."""
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


def negation_sql(renderer: Renderer, plan: Negation, dated: bool) -> str:
    """The first n - m left rows of each value: those that expire first, then the oldest, then the smallest."""
    if plan.compares_rows and not dated:
        return f"({renderer.sql(plan.left, False)}) EXCEPT ALL ({renderer.sql(plan.right, False)})"
    order = ["exp_", "ts_", *(f"{c} NULLS LAST" for c in columns(plan))]
    return _numbered(renderer, plan, plan.on, order, dated, "l.rank_ <= l.copies_ - COALESCE(r.copies_, 0)")


def intersect_sql(renderer: Renderer, plan: Intersect, dated: bool) -> str:
    """The first min(n, m) left rows of each value: those that expire last, then the youngest."""
    if not dated:
        return f"({renderer.sql(plan.left, False)}) INTERSECT ALL ({renderer.sql(plan.right, False)})"
    on = [(i, i) for i in range(len(plan.schema))]
    return _numbered(renderer, plan, on, ["exp_ DESC", "ts_ DESC"], dated, "l.rank_ <= r.copies_")


def _numbered(
    renderer: Renderer,
    plan: Negation | Intersect,
    on: Sequence[tuple[int, int]],
    order: Sequence[str],
    dated: bool,
    keep: str,
) -> str:
    """Left rows numbered within their value, beside the number of right rows with it."""
    value = ", ".join(f"c{i}" for i, _ in on)
    ranks = f"ROW_NUMBER() OVER (PARTITION BY {value} ORDER BY {', '.join(order)}) AS rank_"
    copies = f"COUNT(*) OVER (PARTITION BY {value}) AS copies_"
    same = " AND ".join(f"l.c{i} IS NOT DISTINCT FROM r.k{n}" for n, (i, _) in enumerate(on))
    return (
        f"SELECT {select_list(plan, dated, 'l')} "
        f"FROM (SELECT *, {ranks}, {copies} FROM ({renderer.sql(plan.left, True)}) AS w) AS l "
        f"LEFT JOIN ({_counts(renderer, plan.right, [j for _, j in on])}) AS r ON {same} WHERE {keep}"
    )


def _counts(renderer: Renderer, plan: Plan, positions: Sequence[int]) -> str:
    keys = ", ".join(f"c{j} AS k{n}" for n, j in enumerate(positions))
    value = ", ".join(f"c{j}" for j in positions)
    return f"SELECT {keys}, COUNT(*) AS copies_ FROM ({renderer.sql(plan, False)}) AS w GROUP BY {value}"
