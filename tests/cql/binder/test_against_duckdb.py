"""The binder against DuckDB: the same SELECT, with windows taken off, over the windows' contents.

The text goes to DuckDB as it is, not through our rendering, so this would catch a binder that resolves a name, a
precedence, a NULL, a subquery or a join otherwise than SQL does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import duckdb
import pytest

import thalweg as tw

WINDOWS = {"s": "[RANGE 4]", "r": "[ROWS 5]"}

S_ROWS = [
    (1, 1, "x", 0.5), (1, 2, "y", None), (2, None, "x", 1.5), (3, 1, None, -2.0), (3, 1, "x", 0.5), (4, 3, "zz", 4.0),
    (5, 2, "Y", 0.25), (6, 4, "x%", 9.0), (6, 1, "x", 0.5), (8, 5, "", 0.0),
]  # fmt: skip
R_ROWS = [(1, 1, 10), (2, 2, 20), (2, None, 30), (3, 1, 40), (4, 3, None), (5, 1, 10), (7, 7, 70), (8, 2, 20)]

QUERIES = """
SELECT * FROM s
SELECT a, b AS bb, d * 2 + 1 FROM s WHERE a >= 1 AND NOT b = 'x'
SELECT a FROM s WHERE a = 1 OR a = 2 AND d > 1
SELECT -a, a - -1, a % 2, a / 2, 7 % -3, -7 % 3 FROM s WHERE a IS NOT NULL
SELECT CASE WHEN a > 1 THEN 'big' WHEN a IS NULL THEN 'none' END, CASE b WHEN 'x' THEN 1 ELSE 0 END FROM s
SELECT b LIKE 'x%', b LIKE '_', b NOT LIKE '%y%', b IN ('x', 'y'), a NOT IN (1, NULL), a BETWEEN 1 AND 2 FROM s
SELECT b ILIKE 'Y%', b NOT ILIKE 'X', a NOT BETWEEN 1 AND 2, a IS NOT DISTINCT FROM 1 FROM s
SELECT upper(b), lower(b), length(b), b || '!', concat(b, '-', b), coalesce(b, 'none'), nullif(b, 'x') FROM s
SELECT substring(b, 1, 1), left(b, 1), right(b, 1), replace(b, 'x', 'q'), strpos(b, 'z'), trim(b), reverse(b) FROM s
SELECT abs(d), floor(d), ceil(d), round(d), sqrt(abs(d)), greatest(a, 2), least(a, 2, 3), power(a, 2) FROM s
SELECT a IS DISTINCT FROM 1, (a = 1) IS TRUE, (a = 1) IS NOT TRUE, (a > 1) IS FALSE FROM s
SELECT CAST(a AS VARCHAR), CAST(d AS DOUBLE), a::VARCHAR || b FROM s
SELECT DISTINCT a, b FROM s
SELECT count(*), count(a), count(DISTINCT a), sum(a), avg(d), min(b), max(d) FROM s
SELECT count(*) FROM s WHERE a > 100
SELECT sum(a), min(a) FROM s WHERE a > 100
SELECT b, count(*) AS n, sum(d) FROM s GROUP BY b
SELECT b, count(*) FROM s GROUP BY b HAVING count(*) > 1 AND max(a) IS NOT NULL
SELECT a % 2 AS odd, count(*) FROM s GROUP BY odd
SELECT a % 2, count(*) + 1 FROM s GROUP BY 1
SELECT a, a + 1, sum(d) FILTER (WHERE b = 'x'), count(*) FILTER (WHERE d > 0) FROM s GROUP BY a
SELECT upper(b), max(d) - min(d) FROM s GROUP BY upper(b)
SELECT stddev(d), variance(d), stddev_pop(d), var_pop(d) FROM s
SELECT s.a, x FROM s, r WHERE s.a = r.a
SELECT s.a, x, d FROM s JOIN r ON s.a = r.a AND x > 10
SELECT s.a, r.a FROM s JOIN r ON s.a < r.a
SELECT s.a, x FROM s CROSS JOIN r WHERE s.d > 1
SELECT s.a, r.x FROM s LEFT JOIN r ON s.a = r.a
SELECT s.a, r.a, r.x FROM s RIGHT JOIN r ON s.a = r.a AND d > 0
SELECT s.a, r.a FROM s FULL OUTER JOIN r ON s.a = r.a AND x = 10
SELECT a, x FROM s JOIN r USING (a)
SELECT * FROM s LEFT JOIN r USING (a)
SELECT t1.a, t2.a FROM s AS t1, s AS t2 WHERE t1.a = t2.a AND t1.b <> t2.b
SELECT b, sum(x) FROM s, r WHERE s.a = r.a GROUP BY b
SELECT a FROM s UNION ALL SELECT a FROM r
SELECT a FROM s UNION SELECT x FROM r
SELECT a FROM s EXCEPT SELECT a FROM r
SELECT a FROM s EXCEPT ALL SELECT a FROM r
SELECT a FROM s INTERSECT SELECT a FROM r
SELECT a FROM s INTERSECT ALL SELECT a FROM r
SELECT a FROM s UNION ALL SELECT a FROM r INTERSECT SELECT a FROM r
SELECT a FROM s UNION ALL SELECT a FROM r INTERSECT SELECT a FROM r INTERSECT SELECT a FROM s
SELECT a FROM s INTERSECT SELECT a FROM r UNION ALL SELECT a FROM r INTERSECT SELECT a FROM s
SELECT a FROM s UNION ALL SELECT a FROM r INTERSECT SELECT a FROM r ORDER BY a LIMIT 2
SELECT a FROM s EXCEPT ALL SELECT a FROM r INTERSECT (SELECT a FROM s) ORDER BY 1 DESC LIMIT 1
(SELECT a FROM s UNION ALL SELECT a FROM r) EXCEPT ALL SELECT a FROM r
SELECT d FROM s UNION ALL SELECT a FROM r
SELECT a FROM s WHERE a IN (SELECT a FROM r)
SELECT a FROM s WHERE a NOT IN (SELECT a FROM r)
SELECT a FROM s WHERE a NOT IN (SELECT a FROM r WHERE a IS NOT NULL)
SELECT a FROM s WHERE NOT (a IN (SELECT a FROM r WHERE x > 10))
SELECT a FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.a = s.a AND r.x > s.d * 20)
SELECT a FROM s WHERE NOT EXISTS (SELECT * FROM r WHERE r.a = s.a) AND d > 0
SELECT a FROM s WHERE EXISTS (SELECT 1 FROM r WHERE x = 70)
SELECT a FROM s WHERE (a, 10) IN (SELECT a, x FROM r)
SELECT a FROM s WHERE a IN (SELECT x / 10 FROM r WHERE r.a = s.a)
SELECT a FROM s WHERE a IN (SELECT max(a) FROM r)
SELECT a FROM s WHERE a NOT IN (SELECT x FROM r WHERE r.a = s.a)
SELECT b, d FROM s ORDER BY d DESC NULLS LAST, b LIMIT 3
SELECT b, count(*) AS n FROM s GROUP BY b ORDER BY n DESC, b LIMIT 2
SELECT b FROM s ORDER BY a, d, b LIMIT 4
SELECT DISTINCT b FROM s ORDER BY b NULLS FIRST LIMIT 2
SELECT a FROM s UNION ALL SELECT a FROM r ORDER BY a LIMIT 3
SELECT n FROM (SELECT a, count(*) AS n FROM s GROUP BY a) t WHERE n > 1
SELECT t.c FROM (SELECT a + 1 FROM s) AS t(c)
WITH w AS (SELECT a, count(*) AS n FROM s GROUP BY a) SELECT max(n) FROM w
WITH w(k, n) AS (SELECT a, count(*) FROM s GROUP BY a), v AS (SELECT k FROM w WHERE n > 1) SELECT v.k, x FROM v, r WHERE k = r.a
SELECT count(*) FROM (SELECT DISTINCT a, b FROM s) u
SELECT "a", `b` FROM s -- a comment
SELECT /* another */ A, B FROM S
""".strip().splitlines()  # noqa: E501


def _with_windows(sql: str) -> str:
    return (
        re.sub(r"\b(FROM|JOIN|,) (s|r)\b(?![.(]| AS t)", lambda m: f"{m[0]} {WINDOWS[m[2].lower()]}", sql, flags=re.I)
        .replace("s AS t1", "s [RANGE 4] AS t1")
        .replace("s AS t2", "s AS t2 [RANGE 4]")
    )


def _close(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value


def _bag(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(_close(v) for v in row) for row in rows)


@pytest.fixture(scope="module")
def contents() -> dict[int, duckdb.DuckDBPyConnection]:
    """For each instant, a DuckDB with what the two windows hold: (t-4, t] of s, and the last five of r."""
    databases = {}
    for t in range(12):
        db = duckdb.connect()
        db.execute("CREATE TABLE s (a BIGINT, b VARCHAR, d DOUBLE); CREATE TABLE r (a BIGINT, x BIGINT)")
        for row in [row for row in S_ROWS if t - 4 < row[0] <= t]:
            db.execute("INSERT INTO s VALUES (?, ?, ?)", row[1:])
        for pair in [pair for pair in R_ROWS if pair[0] <= t][-5:]:
            db.execute("INSERT INTO r VALUES (?, ?)", pair[1:])
        databases[t] = db
    return databases


@pytest.mark.parametrize("sql", QUERIES)
def test_same_answer_at_every_instant(sql: str, contents: dict[int, duckdb.DuckDBPyConnection]) -> None:
    session = tw.local()
    session.execute("CREATE STREAM s (a INT, b STRING, d DOUBLE); CREATE STREAM r (a INT, x INT)")
    query = session.query(_with_windows(sql))
    session.push("s", S_ROWS)
    session.push("r", R_ROWS)
    session.advance(11)
    for t, db in contents.items():
        expected = db.execute(sql.replace("`", '"')).fetchall()
        assert _bag(query.answer(at=t)) == _bag(expected), f"at {t}"
