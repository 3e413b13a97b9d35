"""Reading scenario files.

Catches a malformed file that is read as something else, or refused without saying where; and cells that lose a quote,
a comment, a NULL or a type on the way.
"""

from __future__ import annotations

from collections import Counter

import pytest

from thalweg.core.rows import Change
from thalweg.core.time import BEGINNING, SECOND
from thalweg.scenarios import Advance, Arrive, Delete, Insert, ScenarioError, Update, parse_scenario
from thalweg.scenarios.bind import BoundScenario, bind_scenario

CQL = """== cql
CREATE STREAM sales (item INT, name STRING);
CREATE RELATION favourites (item INT PRIMARY KEY, name STRING);
REGISTER QUERY q1 AS SELECT item, name FROM sales [RANGE 5];
"""


def bound(rest: str, cql: str = CQL) -> BoundScenario:
    return bind_scenario(parse_scenario(cql + rest, "x.scenario"))


def test_input_lines_become_events() -> None:
    scenario = bound("""== input
+ - favourites | 4 | old   # before the clock starts
+ 0 sales      | 4 | 'a'
~ 3 Favourites | 4 | NULL
- 5 favourites | 4
@ 8
== late sales
""")
    assert scenario.events == (
        Insert("favourites", BEGINNING, (4, "old")),
        Arrive("sales", 0, (4, "a")),
        Update("favourites", 3, (4, None)),
        Delete("favourites", 5, (4,)),
        Advance(8),
    )
    assert scenario.last == 8


def test_answers_cover_ranges_and_count_copies() -> None:
    scenario = bound("""== answer q1
at 0
  1 | x
  1 | x    # twice
at 5..7
at 9 .. 10
  2 | at
""")
    assert [a.instants for a in scenario.answers] == [(0,), (5, 6, 7), (9, 10)]
    assert [a.bag for a in scenario.answers] == [Counter({(1, "x"): 2}), Counter(), Counter({(2, "at"): 1})]


def test_changes_and_late_rows() -> None:
    scenario = bound("== changes Q1\n+ -2 | 1 | x\n- 3 | 1 | x\n== late sales\n7 | 1 | x\n")
    assert scenario.changes[0].query == "q1"
    assert scenario.changes[0].changes == (Change(-2, +1, (1, "x")), Change(3, -1, (1, "x")))
    assert scenario.late[0].rows == (Arrive("sales", 7, (1, "x")),)


def test_a_time_of_day_and_an_iso_text_are_timestamps_and_fill_the_timestamp_column() -> None:
    cql = """== cql
CREATE STREAM s (v INT, ts TIMESTAMP, w INT) TIMESTAMP BY ts;
REGISTER QUERY q AS SELECT v, ts FROM s [RANGE 5];
"""
    scenario = bound(
        "== input\n+ 00:00:02 s | 1 | 2\n+ 1970-01-01 00:00:04 s | 3 | 4\n== answer q\nat 00:00:04..00:00:05.5\n", cql
    )
    assert scenario.events == (
        Arrive("s", 2 * SECOND, (1, 2 * SECOND, 2)),
        Arrive("s", 4 * SECOND, (3, 4 * SECOND, 4)),
    )
    assert scenario.answers[0].instants == (4 * SECOND, 5 * SECOND, 5 * SECOND + SECOND // 2)


def test_cql_keeps_its_lines_so_that_errors_point_into_the_file() -> None:
    scenario = parse_scenario("== about\nx\n\n" + CQL + "== answer q1\nat 1\n", "x.scenario")
    assert scenario.cql.splitlines()[4] == "CREATE STREAM sales (item INT, name STRING);"
    assert scenario.about == "x"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("hello\n", "text before the first section", "x.scenario:1:1"),
        ("==\n", "a section starts with == and its name", "x.scenario:1:1"),
        ("== abuot\n", "did you mean about?", "x.scenario:1:4"),
        ("== answer\n", "the name of one query", "x.scenario:1:1"),
        ("== cql now\n", "== cql wants nothing behind it", "x.scenario:1:1"),
        ("== cql\nx\n== about\n\n== cql\n", "already on line 1", "x.scenario:5:1"),
        ("== about\nx\n", "needs a section == cql", "x.scenario:3:1"),
        (CQL, "the scenario expects nothing", "x.scenario:5:1"),
        (CQL + "== refused\n# nothing\n", "wants words of the error", "x.scenario:5:1"),
        (CQL + "== refused\nx\n== answer q1\n", "has nothing else to expect", "x.scenario:7:1"),
        (CQL + "== input\n* 3 sales | 1\n", "starts with + or - or ~ or @", "x.scenario:6:1"),
        (CQL + "== input\n+ sales | 1 | x\n", "a time, a source and values", "x.scenario:6:1"),
        (CQL + "== input\n+ 3 sales\n", "a time, a source and values", "x.scenario:6:1"),
        (CQL + "== input\n@ 3 | 4\n", "@ wants a time and nothing else", "x.scenario:6:1"),
        (CQL + "== input\n+ 3 sales | 1 |\n", "a cell is empty", "x.scenario:6:"),
        (CQL + "== input\n+ 3 sales | 1 | 'x\n", "must end with its quote", "x.scenario:6:17"),
        (CQL + "== answer q1\n  1 | x\n", "rows need a line `at time`", "x.scenario:6:3"),
        (CQL + "== answer q1\non 3\n", "expected `at time`", "x.scenario:6:1"),
        (CQL + "== changes q1\n1 | 1 | x\n", "starts with + or -", "x.scenario:6:1"),
        (CQL + "== changes q1\n+ | 1 | x\n", "expected a time and values", "x.scenario:6:1"),
        (CQL + "== late sales\n1\n", "expected a time and values", "x.scenario:6:1"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(text: str, message: str, place: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "x.scenario")
    assert message in str(caught.value)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("rest", "message", "place"),
    [
        ("== input\n+ 1 sale | 1 | x\n", "did you mean sales?", "x.scenario:6:5"),
        ("== input\n+ 1 q1 | 1 | x\n", "there is no stream or relation q1", "x.scenario:6:5"),
        ("== input\n+ x sales | 1 | x\n", "expected a time as an integer, got 'x'", "x.scenario:6:3"),
        ("== input\n+ 1 sales | one | x\n", "column item wants BIGINT, got 'one'", "x.scenario:6:13"),
        ("== input\n+ 1 sales | 1\n", "sales has 2 values (item BIGINT, name STRING), here are 1", "x.scenario:6:1"),
        ("== input\n- 1 favourites | 1 | x\n", "the key of favourites has 1 values", "x.scenario:6:1"),
        ("== input\n- 1 sales | 1 | x\n", "a stream only grows", "x.scenario:6:1"),
        ("== input\n+ - sales | 1 | x\n", "needs its time", "x.scenario:6:1"),
        ("== input\n@ 1\n+ - favourites | 1 | x\n", "after the clock has started", "x.scenario:7:3"),
        ("== answer q2\nat 1\n", "candidates: q1", "x.scenario:5:11"),
        ("== answer q1\nat 3..2\n", "the range ends before it starts", "x.scenario:6:1"),
        ("== answer q1\nat 1\n  1\n", "q1 has 2 values", "x.scenario:7:3"),
        ("== late favourites\n", "only streams have late rows", "x.scenario:5:9"),
    ],
)
def test_what_does_not_fit_the_cql_is_refused_with_its_line(rest: str, message: str, place: str) -> None:
    expects = "" if rest.startswith(("== answer", "== late")) else "== answer q1\nat 1\n"
    with pytest.raises(ScenarioError) as caught:
        bound(rest + expects)
    assert message in str(caught.value)
    assert place in str(caught.value)
