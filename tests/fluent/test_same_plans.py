"""The fluent API and CQL build equal plans; would catch the two drifting apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from cql.catalogue import catalogue, median, plan_of
from thalweg.algebra.windows import Range
from thalweg.core.errors import CqlSyntaxError, NameNotFoundError, PlanError, TypeMismatchError
from thalweg.fluent import Table, call, col, lit

Build = Callable[[Callable[[str], Table]], Table]

PAIRS: list[tuple[str, Build]] = [
    ("SELECT * FROM s", lambda t: t("s")),
    ("SELECT * FROM s [RANGE 10 SLIDE 2]", lambda t: t("s").window("RANGE 10 SLIDE 2")),
    ("SELECT * FROM s [RANGE 10 SLIDE 2]", lambda t: t("s").window(Range(10, 2))),
    ("SELECT * FROM s [ROWS 5] WHERE a > 1", lambda t: t("s").window("[ROWS 5]").where("a > 1")),
    ("SELECT * FROM s [ROWS 5] WHERE a > 1 AND NOT (b = 'x')",
     lambda t: t("s").window("ROWS 5").where((col("a") > 1) & ~(col("b") == "x"))),
    ("SELECT a, d * 2 AS e FROM s", lambda t: t("s").select("a", "d * 2 AS e")),
    ("SELECT a, d * 2 AS e FROM s", lambda t: t("s").select(col("a"), (col("d") * 2).alias("e"))),
    ("SELECT 1 - a, -a, 2 * a, a / 2, a % 2, a + 1 FROM s",
     lambda t: t("s").select(1 - col("a"), -col("a"), 2 * col("a"), col("a") / 2, col("a") % 2, col("a") + 1)),
    ("SELECT (a + 1) * 2 AS e FROM s", lambda t: t("s").select(((col("a") + 1) * 2).alias("e"))),
    ("SELECT * FROM s WHERE a IN (1, 2) AND b LIKE 'x%' AND d IS NULL",
     lambda t: t("s").where(col("a").is_in(1, 2) & col("b").like("x%") & col("d").is_null())),
    ("SELECT * FROM s WHERE a <> -1 OR a <= 3 OR a >= 5 OR a < 2",
     lambda t: t("s").where((col("a") != -1) | (col("a") <= 3) | (col("a") >= 5) | (col("a") < 2))),
    ("SELECT CAST(a AS STRING) AS t FROM s", lambda t: t("s").select(col("a").cast("STRING").alias("t"))),
    ("SELECT b, count(*) AS n FROM s [NOW] GROUP BY b",
     lambda t: t("s").window("NOW").group_by("b").agg("count(*) AS n")),
    ("SELECT b, count(*) AS n FROM s [NOW] GROUP BY b HAVING max(a) > 2",
     lambda t: t("s").window("NOW").group_by(col("b")).agg("count(*) AS n", having="max(a) > 2")),
    ("SELECT count(*), sum(a) FROM s [NOW]", lambda t: t("s").window("NOW").agg("count(*)", "sum(a)")),
    ("SELECT b, MEDIAN(d), median(DISTINCT a) AS m FROM s [NOW] GROUP BY b",
     lambda t: t("s").window("NOW").group_by("b")
     .agg(call(median, col("d")), call("Median", col("a"), distinct=True).alias("m"))),
    ("SELECT a + length(b) AS n, coalesce(a, 0) FROM s",
     lambda t: t("s").select((col("a") + call("length", col("b"))).alias("n"), call("coalesce", col("a"), 0))),
    ("SELECT DISTINCT * FROM s [NOW]", lambda t: t("s").window("NOW").distinct()),
    ("SELECT * FROM s [NOW] JOIN r [ROWS 3] ON s.a = r.a",
     lambda t: t("s").window("NOW").join(t("r").window("ROWS 3"), "s.a = r.a")),
    ("SELECT * FROM s [NOW] JOIN r [ROWS 3] ON s.a = r.a",
     lambda t: t("s").window("NOW").join(t("r").window("ROWS 3"), col("s.a") == col("r.a"))),
    ("SELECT * FROM s [NOW] CROSS JOIN r [ROWS 3]", lambda t: t("s").window("NOW").join(t("r").window("ROWS 3"))),
    ("SELECT u.a, v.a FROM s [NOW] u LEFT JOIN s [ROWS 3] v ON u.a = v.a",
     lambda t: t("s").window("NOW").alias("u").join(t("s").window("ROWS 3").alias("v"), "u.a = v.a", "left")
     .select("u.a", "v.a")),
    ("SELECT * FROM s [NOW] JOIN meta ON k = a", lambda t: t("s").window("NOW").join(t("meta"), "k = a")),
    ("SELECT * FROM s [NOW] WHERE EXISTS (SELECT 1 FROM r WHERE r.a = s.a)",
     lambda t: t("s").window("NOW").semi_join(t("r"), "r.a = s.a")),
    ("SELECT * FROM s [NOW] WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.a = s.a)",
     lambda t: t("s").window("NOW").anti_join(t("r"), "r.a = s.a")),
    ("SELECT a FROM s UNION ALL SELECT x FROM r", lambda t: t("s").select("a").union_all(t("r").select("x"))),
    ("SELECT a FROM s UNION SELECT x FROM r", lambda t: t("s").select("a").union(t("r").select("x"))),
    ("SELECT a FROM s INTERSECT ALL SELECT x FROM r", lambda t: t("s").select("a").intersect_all(t("r").select("x"))),
    ("SELECT a FROM s INTERSECT SELECT x FROM r", lambda t: t("s").select("a").intersect(t("r").select("x"))),
    ("SELECT a FROM s EXCEPT ALL SELECT x FROM r", lambda t: t("s").select("a").except_all(t("r").select("x"))),
    ("SELECT a FROM s EXCEPT SELECT x FROM r", lambda t: t("s").select("a").except_(t("r").select("x"))),
    ("SELECT * FROM s EXCEPT ALL ON (a) SELECT * FROM r", lambda t: t("s").except_all(t("r"), on="a")),
    ("SELECT * FROM s [ROWS 9] ORDER BY d DESC, a LIMIT 3",
     lambda t: t("s").window("ROWS 9").order_by(col("d").desc(), "a").limit(3)),
    ("SELECT * FROM s [ROWS 9] ORDER BY d DESC LIMIT 3", lambda t: t("s").window("ROWS 9").order_by("d DESC").limit(3)),
    ("ISTREAM(SELECT * FROM s [NOW])", lambda t: t("s").window("NOW").istream()),
    ("DSTREAM(SELECT * FROM s [NOW])", lambda t: t("s").window("NOW").dstream()),
    ("RSTREAM(SELECT * FROM s [NOW])", lambda t: t("s").window("NOW").rstream()),
    ("SELECT * FROM (ISTREAM(SELECT * FROM s [NOW])) [ROWS 2]",
     lambda t: t("s").window("NOW").istream().window("ROWS 2")),
    ("SELECT p FROM big [ROWS 2]", lambda t: t("big").window("ROWS 2").select("p")),
    ("SELECT * FROM ev WHERE ts > TIMESTAMP '2026-01-02 03:04:05' AND gap < INTERVAL 90 SECONDS",
     lambda t: t("ev").where((col("ts") > datetime(2026, 1, 2, 3, 4, 5)) & (col("gap") < timedelta(seconds=90)))),
]  # fmt: skip


@pytest.mark.parametrize(("cql", "build"), PAIRS, ids=[cql for cql, _ in PAIRS])
def test_same_plan(cql: str, build: Build) -> None:
    catalog = catalogue()
    assert build(lambda name: Table.of(catalog, name)).plan == plan_of(cql)


def test_errors_point_into_the_text_that_was_given() -> None:
    table = Table.of(catalogue(), "s")
    with pytest.raises(NameNotFoundError, match=r"(?s)no column aa.*a, aa.*\^\^"):
        table.select("a, aa")
    with pytest.raises(CqlSyntaxError, match=r"(?s)window.*LAST 5"):
        table.window("LAST 5")
    with pytest.raises(PlanError, match="at least one key"):
        table.order_by().limit(1)
    with pytest.raises(TypeMismatchError, match="has no truth value"):
        bool(col("a") > 1)


def test_a_column_object_shows_what_it_is() -> None:
    assert repr(col("s.a") + lit(1)) == "col[s.a + 1]"
