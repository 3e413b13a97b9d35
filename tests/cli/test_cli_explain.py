"""Would catch a query left out of EXPLAIN, JSON that changes its form with the number of queries, and lost refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.run import lines, refusal
from thalweg.algebra.catalog import Catalog
from thalweg.cql import compile_script
from thalweg.explain import choice_json, choice_text, explain_json, explain_text, plans_text
from thalweg.optimizer.optimize import optimize

SCRIPT = """\
CREATE STREAM s (a INT, b STRING);
CREATE NRR r (a INT PRIMARY KEY, c STRING);
REGISTER QUERY busy AS SELECT b, COUNT(*) AS n FROM s [RANGE 5] GROUP BY b;
SELECT a FROM s [ROWS 2];
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "q.cql"
    path.write_text(SCRIPT)
    return path


def test_text_shows_every_query_under_its_name(file: Path) -> None:
    plans = [query.plan for query in compile_script(SCRIPT, Catalog())]
    texts = [f"{explain_text(plan)}\n{choice_text(optimize(plan))}" for plan in plans]
    assert "\n".join(lines("explain", file)) + "\n" == f"QUERY busy\n{texts[0]}\nQUERY q2\n{texts[1]}"


def test_all_plans_on_request(file: Path) -> None:
    plan = compile_script(SCRIPT, Catalog())[0].plan
    assert "\n".join(lines("explain", file, "--plans", "--query", "busy")).endswith(
        plans_text(optimize(plan)).rstrip("\n")
    )


def test_json_is_a_list_for_one_query_and_for_many(file: Path) -> None:
    plans = [query.plan for query in compile_script(SCRIPT, Catalog())]
    both = [
        {"name": name, "plan": explain_json(plan), "choice": choice_json(optimize(plan))}
        for name, plan in zip(("busy", "q2"), plans, strict=True)
    ]
    assert json.loads("\n".join(lines("explain", file, "--json"))) == both
    assert json.loads("\n".join(lines("explain", "--json", "--query", "BUSY", file))) == both[:1]


def test_one_query_by_name(file: Path) -> None:
    assert [line for line in lines("explain", file, "--query", "q2") if line.startswith("QUERY")] == ["QUERY q2"]


def test_standard_input(file: Path) -> None:
    assert lines("explain", "-", stdin=SCRIPT) == lines("explain", file)


def test_unknown_query_lists_the_known(file: Path) -> None:
    assert refusal("explain", file, "--query", "bsy") == (
        "error: there is no query bsy\ncandidates: busy, q2\nhint: did you mean busy?\n"
    )


def test_missing_file_names_a_near_one(file: Path) -> None:
    missing = file.parent / "qq.cql"
    assert refusal("explain", missing) == f"error: there is no file {missing}\nhint: did you mean q.cql?\n"


def test_a_folder_is_no_script(tmp_path: Path) -> None:
    assert refusal("explain", tmp_path).startswith(f"error: cannot read {tmp_path}: ")


def test_syntax_errors_point_with_a_caret() -> None:
    assert refusal("explain", "-", stdin="CREATE STREAM s (a INT);\nSELECT a FROM s [ROWS];") == (
        "error: ROWS wants a number, got ]\n  --> stdin:2:22\n2 | SELECT a FROM s [ROWS];\n  |                      ^\n"
    )


def test_a_query_that_cannot_be_exact_is_refused_by_name() -> None:
    alone = SCRIPT + "REGISTER QUERY alone AS SELECT c FROM r;"
    assert refusal("explain", "-", stdin=alone).startswith("error: query alone: the NRR r stands alone")


def test_a_script_without_a_query_is_refused() -> None:
    assert refusal("explain", "-", stdin="CREATE STREAM s (a INT)") == (
        "error: stdin has no query\nhint: REGISTER QUERY name AS SELECT ...\n"
    )


def test_rates_and_numbers_come_from_a_sample(file: Path) -> None:
    rows = file.parent / "s.csv"
    rows.write_text("ts,a,b\n" + "\n".join(f"{t},{t % 3},x" for t in range(0, 1000, 2)))
    shown = "\n".join(lines("explain", file, "--query", "busy", "--sample", f"s={rows}"))
    assert "known    s: 0.501 rows per tick, 3 values of a, 1 values of b (sampled)" in shown
    assert "there is no stream or table called z" in refusal("explain", file, "--sample", f"z={rows}")
