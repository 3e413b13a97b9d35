"""EXCEPT ALL and INTERSECT ALL: natively where only values count, by numbering the rows where dates choose them."""

from __future__ import annotations

from collections.abc import Sequence

from thalweg.algebra.plan import Intersect, Negation, Plan
from thalweg.algebra.sql.text import Renderer, columns, select_list


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
