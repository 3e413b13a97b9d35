"""The streams and tables that the CQL tests speak of, and an aggregate of a user's."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median as median_of

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.expressions import aggregate
from thalweg.algebra.plan import Plan
from thalweg.cql import compile_query, compile_script, register

DECLARATIONS = """
CREATE STREAM s (a INT, b STRING, d DOUBLE);
CREATE STREAM r (a INT, x INT);
CREATE STREAM ev (ts TIMESTAMP, k STRING, v DOUBLE, gap INTERVAL, ok BOOLEAN) TIMESTAMP BY ts LATENESS 5 SECONDS;
CREATE RELATION rel (k INT PRIMARY KEY, name STRING);
CREATE NRR meta (k INT, label STRING, PRIMARY KEY (k));
CREATE VIEW big(p, q) AS SELECT a, b FROM s WHERE a > 1;
"""


@aggregate(returns=float, takes=float)
def median(values: Sequence[float]) -> float:
    return median_of(values)


def catalogue() -> Catalog:
    catalog = Catalog()
    compile_script(DECLARATIONS, catalog)
    register(catalog, median)
    return catalog


def plan_of(cql: str) -> Plan:
    return compile_query(cql, catalogue(), today=0)


def outline(plan: Plan) -> str:
    """A plan as nested `Label(detail)(children)`, for short assertions."""
    detail = f"[{plan.detail}]" if plan.detail else ""
    children = ", ".join(map(outline, plan.children))
    return f"{plan.label}{detail}" + (f"({children})" if children else "")
