"""Joins as SQL. A condition that is NULL joins nothing, which is what ON and EXISTS do."""

from __future__ import annotations

from thalweg.algebra.plan import Join, JoinKind, MultiJoin, NrrJoin, Plan, Project, RelationScan, Select, SemiJoin
from thalweg.algebra.sql.text import Renderer, columns, dates, pair_column, select_list
from thalweg.core.errors import PlanError

_KEYWORDS = {
    JoinKind.INNER: "JOIN",
    JoinKind.LEFT: "LEFT JOIN",
    JoinKind.RIGHT: "RIGHT JOIN",
    JoinKind.FULL: "FULL JOIN",
}


def join_sql(renderer: Renderer, plan: Join, dated: bool) -> str:
    """Inner and outer joins; GREATEST and LEAST skip the NULL dates of a missing partner."""
    later = ["GREATEST(l.ts_, r.ts_) AS ts_", "LEAST(l.exp_, r.exp_) AS exp_"] if dated else []
    left, right = renderer.sql(plan.left, dated), renderer.sql(plan.right, dated)
    condition = renderer.scalar(plan.condition, pair_column(len(plan.left.schema)))
    return (
        f"SELECT {', '.join(_pair_columns(plan) + later)} "
        f"FROM ({left}) AS l {_KEYWORDS[plan.kind]} ({right}) AS r ON {condition}"
    )


def multi_join_sql(renderer: Renderer, plan: MultiJoin, dated: bool) -> str:
    """A cross join under a WHERE."""
    tables = [f"t{i}" for i in range(len(plan.inputs))]
    names = [name for child, table in zip(plan.inputs, tables, strict=True) for name in columns(child, table)]
    shown = [f"{name} AS c{i}" for i, name in enumerate(names)]
    if dated:
        every = [", ".join(f"{table}.{date}" for table in tables) for date in ("ts_", "exp_")]
        shown += [f"GREATEST({every[0]}) AS ts_", f"LEAST({every[1]}) AS exp_"]
    inputs = [f"({renderer.sql(child, dated)}) AS {t}" for child, t in zip(plan.inputs, tables, strict=True)]
    condition = renderer.scalar(plan.condition, names.__getitem__)
    return f"SELECT {', '.join(shown)} FROM {' CROSS JOIN '.join(inputs)} WHERE {condition}"


def semi_join_sql(renderer: Renderer, plan: SemiJoin, dated: bool) -> str:
    """[NOT] EXISTS."""
    left, right = renderer.sql(plan.left, dated), renderer.sql(plan.right, False)
    condition = renderer.scalar(plan.condition, pair_column(len(plan.left.schema)))
    return (
        f"SELECT {select_list(plan, dated, 'l')} FROM ({left}) AS l "
        f"WHERE {'NOT ' * plan.anti}EXISTS (SELECT 1 FROM ({right}) AS r WHERE {condition})"
    )


def nrr_join_sql(renderer: Renderer, plan: NrrJoin, dated: bool) -> str:
    """A join with the rows of the NRR that were valid at the left tuple's ts."""
    left, right = renderer.sql(plan.left, True), _nrr_sql(renderer, plan.right)
    condition = renderer.scalar(plan.condition, pair_column(len(plan.left.schema)))
    return (
        f"SELECT {', '.join(_pair_columns(plan) + dates(dated, 'l'))} "
        f"FROM ({left}) AS l {_KEYWORDS[plan.kind]} ({right}) AS r "
        f"ON r.from_ <= l.ts_ AND l.ts_ < r.to_ AND ({condition})"
    )


def _nrr_sql(renderer: Renderer, plan: Plan) -> str:
    """An NRR, possibly selected or projected, with the validity of its rows."""
    match plan:
        case RelationScan():
            return f"SELECT {', '.join(columns(plan))}, from_, to_ FROM {renderer.leaf(plan)} AS w"
        case Select(child, predicate):
            return f"SELECT * FROM ({_nrr_sql(renderer, child)}) AS w WHERE {renderer.scalar(predicate)}"
        case Project(child, items):
            shown = [f"{renderer.scalar(item.expression)} AS c{i}" for i, item in enumerate(items)]
            return f"SELECT {', '.join(shown)}, from_, to_ FROM ({_nrr_sql(renderer, child)}) AS w"
        case _:
            raise PlanError(
                f"an NRR can be selected and projected before it is joined, but not put through {plan.label}",
                hint="join the NRR itself and apply the rest above the join",
            )


def _pair_columns(plan: Join | NrrJoin) -> list[str]:
    names = columns(plan.left, "l") + columns(plan.right, "r")
    return [f"{name} AS c{i}" for i, name in enumerate(names)]
