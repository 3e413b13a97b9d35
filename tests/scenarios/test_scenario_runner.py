"""The scenario runner itself.

Catches a runner that lets a wrong expectation pass: a missing row, a superfluous one, a wrong count, sign or date, a
late row, a refusal that did not come or came for another reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from thalweg.core.errors import DataError, NameNotFoundError
from thalweg.core.rows import Change
from thalweg.scenarios import Event, LocalEngine, Mismatch, ScenarioError, parse_scenario, run_scenario
from thalweg.scenarios.runner import net_changes

HEAD = """== cql
CREATE STREAM s (v INT) LATENESS 1;
REGISTER QUERY q AS SELECT v FROM s [RANGE 2];
== input
+ 1 s | 10
+ 2 s | 20
+ 2 s | 20
+ 0 s | 5
"""


def run(rest: str, batch_size: int | None = None) -> list[Mismatch]:
    return run_scenario(parse_scenario(HEAD + rest, "x.scenario"), LocalEngine(), batch_size)


def test_what_holds_passes() -> None:
    rest = """== answer q
at 2
  20
  10
  20
at 4
== changes q
+ 2 | 20
+ 1 | 10
- 3 | 10
+ 2 | 20
- 4 | 20
- 4 | 20
== late s
0 | 5
"""
    assert run(rest) == []
    assert run(rest, batch_size=1) == []


def test_a_wrong_answer_is_shown_as_a_table_of_signed_rows() -> None:
    (mismatch,) = run("== answer q\nat 2\n  10\n  20\n  30\n")
    assert str(mismatch) == (
        "x.scenario:10: answer of q at 2\n"
        "    v\n"
        "    10\n"
        "    20\n"
        "  + 20\n"
        "  - 30"
    )  # fmt: skip


def test_every_instant_of_a_range_is_looked_at() -> None:
    found = run("== answer q\nat 1..3\n  10\n")
    assert [m.what for m in found] == ["answer of q at 2", "answer of q at 3"]


def test_wrong_changes_are_shown_with_sign_and_time() -> None:
    (mismatch,) = run("== changes q\n+ 1 | 10\n+ 2 | 20\n- 2 | 20\n- 3 | 10\n- 4 | 20\n- 4 | 20\n")
    assert str(mismatch) == (
        "x.scenario:9: changes of q\n"
        "    sign | t | v\n"
        "    +    | 1 | 10\n"
        "  - -    | 2 | 20\n"
        "    +    | 2 | 20\n"
        "  + +    | 2 | 20\n"
        "    -    | 3 | 10\n"
        "    -    | 4 | 20\n"
        "    -    | 4 | 20"
    )  # fmt: skip


def test_changes_that_cancel_are_a_mismatch_only_where_nobody_read_in_between() -> None:
    rest = "== changes q\n+ 1 | 10\n+ 1 | 7\n- 1 | 7\n+ 2 | 20\n+ 2 | 20\n"
    assert run(rest)
    assert run(rest, batch_size=1) == []
    assert net_changes([Change(1, 1, (7,)), Change(1, -1, (7,)), Change(2, -1, (7,))]) == {Change(2, -1, (7,)): 1}


def test_missing_and_superfluous_late_rows() -> None:
    (mismatch,) = run("== late s\n0 | 6\n")
    assert str(mismatch).splitlines()[1:] == ["    t | v", "  + 0 | 5", "  - 0 | 6"]


def test_an_engine_that_reports_too_little_is_noticed() -> None:
    class Forgetful(LocalEngine):
        def feed(self, events: Sequence[Event]) -> None:
            super().feed(events[1:])

    scenario = parse_scenario(HEAD + "== answer q\nat 1\n  10\n", "x.scenario")
    assert run_scenario(scenario, Forgetful())


def test_a_refusal_must_come() -> None:
    (mismatch,) = run("== refused\ntoo late\n")
    assert str(mismatch) == "x.scenario: should have been refused\n  - too late"


def test_a_refusal_must_come_for_the_right_reason() -> None:
    text = "== cql\nCREATE STREAM s (v INT);\nREGISTER QUERY q AS SELECT w FROM s;\n== refused\nno column w\ntoo late\n"
    (mismatch,) = run_scenario(parse_scenario(text, "x.scenario"), LocalEngine())
    assert "refused, but in other words" in str(mismatch)
    assert "  - too late" in str(mismatch)
    assert "  - no column w" not in str(mismatch)
    assert "x.scenario:3:28" in str(mismatch)


def test_a_refusal_nobody_expects_is_an_error() -> None:
    text = "== cql\nCREATE STREAM s (v INT);\nREGISTER QUERY q AS SELECT w FROM s;\n== answer q\nat 1\n"
    with pytest.raises(NameNotFoundError, match="w"):
        run_scenario(parse_scenario(text, "x.scenario"), LocalEngine())
    out_of_order = HEAD.replace(" LATENESS 1", "") + "== answer q\nat 1\n  10\n"
    with pytest.raises(DataError, match="comes too late"):
        run_scenario(parse_scenario(out_of_order, "x.scenario"), LocalEngine())


def test_a_malformed_scenario_is_no_refusal() -> None:
    text = HEAD + "+ 3 s | ten\n== refused\nBIGINT\n"
    with pytest.raises(ScenarioError, match="BIGINT"):
        run_scenario(parse_scenario(text, "x.scenario"), LocalEngine())
