"""The queries of which golden checkpoints are written. Together they hold every kind of state that a query can."""

from __future__ import annotations

from golden.queries import QueryCase
from thalweg.kernel.pipeline import Settings

TICKS = """
CREATE STREAM s (k INT, v INT, x DOUBLE, name STRING);
CREATE STREAM t (k INT, v INT);
CREATE STREAM u (k INT, v INT);
CREATE RELATION r (k INT PRIMARY KEY, name STRING);
CREATE NRR n (k INT PRIMARY KEY, w INT);
"""
STAMPED = """
CREATE STREAM e (ts TIMESTAMP, k INT, v INT, at TIMESTAMP, took INTERVAL) TIMESTAMP BY ts LATENESS 5 SECONDS;
CREATE STREAM f (ts TIMESTAMP, k INT, ok BOOLEAN) TIMESTAMP BY ts;
"""
NUMBERS = "COUNT(*) AS n, COUNT(v) AS c, SUM(v) AS s, AVG(v) AS a, STDDEV(v) AS d, SUM(x) AS sx, AVG(x) AS ax"
EXTREMA = "MIN(v) AS low, MAX(x) AS high, MAX(name) AS last"
JOINED = "SELECT s.k, s.name, t.v FROM s [RANGE 9] JOIN t [RANGE 7] ON s.k = t.k"
THREE = (
    "SELECT s.k, s.v, t.v AS w, u.v AS z FROM s [RANGE 9] JOIN t [RANGE 7] ON s.k = t.k JOIN u [RANGE 12] ON t.k = u.k"
)


def _case(name: str, cql: str, strategy: str = "auto", copied: tuple[str, ...] = (), **options: object) -> QueryCase:
    script = options.pop("script", TICKS)
    advances, is_flat = bool(options.pop("advances", True)), bool(options.pop("is_flat", False))
    settings = Settings(**options)  # type: ignore[arg-type]
    return QueryCase(name, cql, str(script), strategy, settings, copied, advances, is_flat)


QUERIES = [
    # windows
    _case("window-slide", "SELECT k, v, name FROM s [RANGE 9 SLIDE 4]"),
    _case("window-rows", "SELECT k, v FROM s [ROWS 5 SLIDE 2]"),
    _case("window-partitioned", "SELECT k, v FROM s [PARTITION BY k ROWS 2 RANGE 9]"),
    _case("window-value", "SELECT k, v FROM s [RANGE 3 ON v]"),
    _case("window-now-and-landmark", "SELECT k FROM s [NOW] UNION ALL SELECT v FROM t [FROM 3 UNTIL 30]"),
    _case("window-rows-derived", "SELECT * FROM ISTREAM(SELECT DISTINCT k, v FROM s [RANGE 6]) [ROWS 4]"),
    _case(
        "window-partitioned-derived",
        "SELECT * FROM ISTREAM(SELECT DISTINCT k, v FROM s [RANGE 6]) [PARTITION BY k ROWS 2 RANGE 9]",
    ),
    _case("window-value-derived", "SELECT * FROM ISTREAM(SELECT DISTINCT k, v FROM s [RANGE 6]) [RANGE 2 ON v]"),
    _case(
        "window-of-times",
        "SELECT e.k, e.at, e.took, f.ok FROM e [RANGE 9 SECONDS ON at] JOIN f [RANGE 20 SECONDS] ON e.k = f.k",
        script=STAMPED,
        advances=False,
    ),
    # rows and bags
    _case("distinct", "SELECT DISTINCT k, name FROM s [RANGE 9]"),
    _case("distinct-signed", "SELECT DISTINCT k, name FROM s [ROWS 7]"),
    _case("distinct-over-join", "SELECT DISTINCT s.k, t.v FROM s [RANGE 9] JOIN t [RANGE 7] ON s.k = t.k"),
    _case("intersect", "SELECT k, v FROM t [RANGE 9] INTERSECT ALL SELECT k, v FROM u [RANGE 12]"),
    _case("negation", "SELECT k, v FROM t [RANGE 9] EXCEPT ALL ON (k) SELECT k, v FROM u [RANGE 7]"),
    _case("negation-signed", "SELECT k, v FROM t [ROWS 9] EXCEPT ALL SELECT k, v FROM u [ROWS 7]"),
    *(
        _case(
            f"above-negation-{above}",
            "SELECT a.k, a.v, s.name FROM (SELECT k, v FROM t [RANGE 9] EXCEPT ALL ON (k) SELECT k, v FROM u [RANGE 7])"
            " AS a JOIN s [RANGE 8] ON a.k = s.k",
            above_negation=above,
        )
        for above in ("direct", "partitions", "hybrid")
    ),
    _case("top-k", "SELECT k, v, name FROM s [RANGE 12] ORDER BY v DESC, name NULLS FIRST LIMIT 3"),
    _case("top-k-signed", "SELECT k, v FROM s [ROWS 9] ORDER BY v LIMIT 3"),
    _case("istream", "ISTREAM(SELECT DISTINCT k FROM s [RANGE 6])"),
    _case("dstream", "SELECT * FROM DSTREAM(SELECT DISTINCT k FROM s [RANGE 4]) [RANGE 9]"),
    _case("rstream", "SELECT * FROM RSTREAM(SELECT DISTINCT k, v FROM t [RANGE 4]) [RANGE 3]"),
    # aggregates
    _case("group-by", f"SELECT k, {NUMBERS} FROM s [RANGE 9] GROUP BY k"),
    _case("group-by-signed", f"SELECT name, {NUMBERS}, {EXTREMA} FROM s [ROWS 9] GROUP BY name"),
    _case(
        "group-by-join",
        f"SELECT s.k, {NUMBERS} FROM s [RANGE 9] JOIN u [RANGE 7] ON s.k = u.k GROUP BY s.k".replace("(v)", "(s.v)"),
    ),
    _case("extrema", f"SELECT k, {EXTREMA} FROM s [RANGE 9] GROUP BY k HAVING COUNT(*) > 1"),
    _case("aggregate-in-parts", f"SELECT {NUMBERS}, {EXTREMA} FROM s [RANGE 9 SLIDE 3]", in_parts=1),
    _case("aggregate-distinct", "SELECT k, COUNT(DISTINCT v) AS n, SUM(DISTINCT x) AS s FROM s [RANGE 9] GROUP BY k"),
    _case("aggregate-distinct-parts", "SELECT COUNT(DISTINCT v) AS n, MAX(DISTINCT v) AS m FROM s [ROWS 9]"),
    _case(
        "aggregate-of-users",
        "SELECT k, MIDDLE(v) AS m, PRODUCT(v) AS p, PRODUCT(DISTINCT v) AS q FROM s [RANGE 9] WHERE even(k) GROUP BY k",
    ),
    # joins
    _case("join", JOINED, advances=False),
    *(_case(f"join-{strategy}", JOINED, strategy) for strategy in ("nt", "direct", "ord")),
    _case("join-rows", "SELECT s.k, t.v FROM s [ROWS 9] JOIN t [ROWS 7] ON s.k = t.k AND s.v >= t.v", "ord"),
    _case("join-value", "SELECT s.k, t.v FROM s [RANGE 3 ON v] JOIN t [PARTITION BY k ROWS 2] ON s.k = t.k", "ord"),
    _case("join-without-keys", "SELECT s.k, t.k AS j FROM s [RANGE 5] JOIN t [RANGE 5] ON s.v > t.v"),
    _case("join-over-join", f"SELECT a.k, a.name, u.v FROM ({JOINED}) AS a JOIN u [RANGE 12] ON a.k = u.k"),
    _case("join-outer", "SELECT s.k, s.v, t.v AS w FROM s [RANGE 9] FULL JOIN t [RANGE 7] ON s.k = t.k"),
    _case("join-semi", "SELECT k, v FROM s [RANGE 9] WHERE k IN (SELECT k FROM t [RANGE 7])"),
    _case("join-anti", "SELECT k, v FROM s [RANGE 9] WHERE k NOT IN (SELECT k FROM t [RANGE 7] WHERE k IS NOT NULL)"),
    _case("join-relation", "SELECT s.k, s.v, r.name FROM s [RANGE 9] LEFT JOIN r ON s.k = r.k"),
    _case("join-relation-copied", "SELECT s.k, s.v, r.name FROM s [RANGE 9] JOIN r ON s.k = r.k", copied=("r",)),
    _case("join-relation-bag", "SELECT s.k, s.v, b.w FROM s [ROWS 6] JOIN b ON s.k = b.k"),
    _case("join-nrr", "SELECT s.k, s.v, n.w FROM s [RANGE 9] LEFT JOIN n ON s.k = n.k"),
    _case("join-nrr-bag", "SELECT s.k, s.v, m.w FROM s [ROWS 6] JOIN m ON s.k = m.k", copied=("m",)),
    *(_case(f"multi-join-{join}", THREE, is_flat=True, join=join) for join in ("hash", "nested-loops")),
    _case("multi-join-hybrid", THREE, is_flat=True, join="hybrid", indexed=(1,)),
    _case("multi-join-lazy", THREE, is_flat=True, algorithm="lazy", reevaluate=1),  # with every tick: at once
    _case("multi-join-general-lazy", THREE, is_flat=True, algorithm="general-lazy"),
    # keys and strings come and go
    _case("forgetting-group-by", "SELECT name, COUNT(*) AS n, MAX(name) AS m FROM s [RANGE 2] GROUP BY name"),
    _case("forgetting-signed", "SELECT name, k, MIN(name) AS low, COUNT(*) AS n FROM s [ROWS 3] GROUP BY name, k"),
    _case("forgetting-partitioned", "SELECT name, v FROM s [PARTITION BY name, k ROWS 2 RANGE 3]"),
    _case("forgetting-join", "SELECT s.name, t.v FROM s [RANGE 3] JOIN t [RANGE 4] ON s.k = t.k AND s.v = t.v"),
    _case("forgetting-ord", "SELECT s.name, t.v FROM s [ROWS 4] JOIN t [ROWS 3] ON s.k = t.k", "ord"),
    _case("forgetting-negation", "SELECT k, v FROM t [RANGE 2] EXCEPT ALL ON (k, v) SELECT k, v FROM u [RANGE 3]"),
    _case("forgetting-nrr", "SELECT s.name, n.w FROM s [RANGE 2] LEFT JOIN n ON s.k = n.k WHERE s.name <> 'b'"),
]
QUEUED = [
    _case("queued-nta", f"SELECT DISTINCT k FROM ({JOINED}) AS a", "nta"),
    _case("queued-time-message", f"SELECT k, COUNT(*) AS n FROM ({JOINED}) AS a GROUP BY k", "time-message"),
    _case("queued-piggyback", JOINED, "piggyback", scheduler="round-robin", slot=1),
]
