"""Would catch rows that are dropped at the source though some part of the plan wants them."""

from __future__ import annotations

import pytest

from thalweg.algebra.catalog import Catalog
from thalweg.cql import compile_script
from thalweg.runtime.distributed.ingest.needed import selections

DECLARED = "CREATE STREAM s (a INT, b INT); CREATE STREAM r (a INT); "


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT b FROM s WHERE a > 5", {"s": "s.a > 5"}),
        ("SELECT b FROM s [RANGE 5] WHERE a > 5 AND b IS NOT NULL", {"s": "(s.a > 5) AND (NOT (s.b IS NULL))"}),
        ("SELECT b FROM s [ROWS 5] WHERE a > 5", {}),
        ("SELECT s.b FROM s [RANGE 5], r [RANGE 5] WHERE s.a = r.a", {}),
        ("SELECT x.b FROM s [RANGE 5] AS x, s [RANGE 5] AS y WHERE x.a = y.a AND x.b > 1", {}),
        ("SELECT a FROM s [RANGE 5] WHERE a > 5 UNION ALL SELECT b FROM s [RANGE 9] WHERE a > 5", {"s": "s.a > 5"}),
        ("SELECT a FROM s [RANGE 5] WHERE a > 5 UNION ALL SELECT b FROM s [RANGE 9] WHERE a > 6", {}),
        ("SELECT a FROM s [RANGE 5] WHERE a > 5 UNION ALL SELECT b FROM s [RANGE 9]", {}),
        ("SELECT a, COUNT(*) AS n FROM s [RANGE 5] GROUP BY a HAVING COUNT(*) > 5", {}),
    ],
)
def test_what_every_reader_of_a_stream_drops(query: str, wanted: dict[str, str]) -> None:
    (compiled,) = compile_script(f"{DECLARED} REGISTER QUERY q AS {query};", Catalog(), "test", today=0)
    assert {name: str(condition) for name, condition in selections(compiled.plan).items()} == wanted
