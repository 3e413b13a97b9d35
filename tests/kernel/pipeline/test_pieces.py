"""Would catch: results of a join that exist all at once although nobody needs them so, a piece that is lost, counted
twice or read by two, a batch without a limit, an error that does not say which join and which key.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import thalweg as tw
from thalweg.core.batch import Batch
from thalweg.core.errors import TooManyResultsError
from thalweg.cql import compile_query
from thalweg.kernel.aggregates import reduced
from thalweg.kernel.pipeline import Settings, Strategy, build
from thalweg.kernel.pipeline.pipeline import Pipeline
from thalweg.kernel.tuning import Tuning

SCRIPT = "CREATE STREAM l (k INT, v INT); CREATE STREAM r (k INT, v INT); CREATE STREAM u (k INT, v INT)"
JOINED = "FROM l [RANGE 100000] JOIN r [RANGE 100000] ON l.k = r.k"
PIECE = 1 << 12


def pipeline(cql: str, most: int = 1 << 26, strategy: Strategy = Strategy.AUTO) -> Pipeline:
    s = tw.local()
    s.execute(SCRIPT)
    tuning = Tuning(pairs_at_once=PIECE // 4, results_at_once=PIECE)
    made = build(compile_query(cql, s.catalog), strategy, settings=Settings(most_results=most), tuning=tuning)
    made.begin(-1)
    return made


def hot(rows: int, key: int = 7) -> Batch:
    ts = np.arange(rows)
    return Batch.of_arrivals((np.full(rows, key), ts % 10), ts)


def in_pieces(made: Pipeline) -> list[str]:
    return [type(made.nodes[place].operator).__name__ for place in sorted(made._passing.places)]


@pytest.mark.parametrize(
    ("select", "passing"),
    [
        ("COUNT(*) AS n, SUM(r.v) AS s {} WHERE l.v <> r.v", ["Join", "Select", "Project"]),
        ("l.k, COUNT(*) AS n {} GROUP BY l.k", ["Join", "Project"]),
        ("l.k, MAX(r.v) AS m {} GROUP BY l.k", []),  # needs all results
        ("l.k, r.v {}", []),  # are the answer
    ],
)
def test_results_stay_pieces_until_less_remains(select: str, passing: list[str]) -> None:
    assert in_pieces(pipeline(f"SELECT {select.format(JOINED)}")) == passing


def test_an_output_that_two_read_is_whole() -> None:
    both = f"SELECT COUNT(*) AS n {JOINED} UNION ALL SELECT SUM(l.v) AS n {JOINED}"
    assert in_pieces(pipeline(both)) in ([], ["Project", "Project"])  # the join is one node for both
    assert "Join" not in in_pieces(pipeline(both))


@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.NT], ids=lambda s: s.value)
@pytest.mark.parametrize("condition", ["", " AND l.v <= r.v"], ids=["equality", "with a rest"])
def test_memory_does_not_grow_with_the_pairs(
    strategy: Strategy, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduced, "_UNSETTLED", PIECE)
    peaks = []
    for rows in (500, 1_000):
        made = pipeline(f"SELECT COUNT(*) AS n, SUM(r.v) AS s {JOINED}{condition}", strategy=strategy)
        tracemalloc.start()
        try:
            answer = made.process({"l": hot(rows), "r": hot(rows)}, rows)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        values = np.arange(rows) % 10
        pairs = values[:, None] <= values if condition else np.ones((rows, rows), dtype=np.bool_)
        assert (answer.columns[0][-1], answer.columns[1][-1]) == (pairs.sum(), (pairs * values).sum())
    assert peaks[1] < 2 * peaks[0]  # of twice as many rows, four times as many pairs
    assert peaks[1] < 8 * pairs.sum()  # bytes; a pair alone has 17 for sign, start and end, and 32 for its columns


def test_metrics_count_all_pieces() -> None:
    made = pipeline(f"SELECT COUNT(*) AS n {JOINED}")
    made.process({"l": hot(200), "r": hot(200)}, 200)
    by_name = {m.operator: m for m in made.measure()}
    assert (by_name["Join"].positive_out, by_name["GroupBy"].positive_in) == (40_000, 40_000)
    assert {m.batches for m in made.metrics} == {2}  # with the beginning


# -- the limit


def test_a_batch_with_too_many_results_is_refused_in_words() -> None:
    made = pipeline(f"SELECT l.k, r.v AS w {JOINED}", most=10_000)
    made.process({"l": hot(40), "r": hot(60)}, 60)
    feeds = {name: Batch.concat([hot(rows, 7), hot(3, 9)]) for name, rows in (("l", 200), ("r", 100))}
    with pytest.raises(TooManyResultsError) as raised:
        made.process(feeds, 200)
    assert raised.value.message == (
        "the join ON l.k = r.k has more than 10,000 results in one batch, which must exist at the same time here: "
        "36,009 pairs of tuples meet, 36,000 of them by the hottest key (l.k = 7), which 240 tuples of the left side "
        "and 160 of the right side have"
    )
    for way_out in ("smaller batches", "narrower window", "further condition", "tw.Settings(most_results=20000)"):
        assert way_out in str(raised.value.hint)


@pytest.mark.parametrize(
    "cql",
    [
        f"SELECT l.k, r.v AS w {JOINED}",  # the answer
        f"SELECT l.k, MAX(r.v) AS m {JOINED} GROUP BY l.k",  # an operator that needs all
        f"SELECT l.v, r.v AS w {JOINED} AND l.v <> 99 ORDER BY w, l.v LIMIT 3",
        "SELECT l.v, r.v AS w FROM l [ROWS 1000] JOIN r [ROWS 1000] ON l.k = r.k",
        "SELECT l.v FROM l [RANGE 999] WHERE EXISTS (SELECT 1 FROM r [RANGE 999] WHERE l.v > r.v)",
        "SELECT l.v FROM l [RANGE 9] JOIN r [RANGE 9] ON l.k = r.k JOIN u [RANGE 9] ON r.k = u.k",
    ],
)
def test_whoever_needs_all_results_has_the_limit(cql: str) -> None:
    made = pipeline(cql, most=50)
    with pytest.raises(TooManyResultsError, match=r"the join .*ON .* has more than 50 results in one batch"):
        made.process({name: hot(100) for name in ("l", "r", "u")}, 100)


def test_nobody_who_needs_only_sums_has_the_limit() -> None:
    made = pipeline(f"SELECT COUNT(*) AS n {JOINED}", most=1)
    assert made.process({"l": hot(300), "r": hot(300)}, 300).columns[0][-1] == 90_000


def test_what_a_selection_drops_does_not_count() -> None:
    made = pipeline(f"SELECT * FROM (SELECT l.v + r.v AS w {JOINED}) AS a WHERE w = 18 ORDER BY w LIMIT 1", most=5_000)
    made.process({"l": hot(300), "r": hot(300)}, 300)


def test_as_many_results_as_the_limit_are_allowed() -> None:
    made = pipeline(f"SELECT l.k, r.v AS w {JOINED}", most=10_000)
    assert len(made.process({"l": hot(100), "r": hot(100)}, 100)) == 10_000


@pytest.mark.parametrize("strategy", ["auto", "nt", "ord", "direct", "nta", "time-message"])
def test_every_strategy_has_the_limit(strategy: str) -> None:
    s = tw.local()
    s.execute("CREATE STREAM l (name STRING); CREATE STREAM r (name STRING)")
    cql = "SELECT l.name FROM l [RANGE 9] JOIN r [RANGE 9] ON l.name = r.name"
    q = s.query(cql, strategy=strategy, settings=tw.Settings(most_results=99))
    s.push("l", [(1, "elbe\x1b[2J")] * 10)
    s.push("r", [(1, "elbe\x1b[2J")] * 10)
    with pytest.raises(TooManyResultsError, match=r"hottest key \(l.name = 'elbe\\x1b\[2J'\), which 10 tuples"):
        q.answer(at=1)
