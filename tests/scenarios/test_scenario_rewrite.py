"""Writing a scenario's expectations anew.

Catches a rewrite that changes anything but the expectations, asks at other instants, or writes what does not hold.
"""

from __future__ import annotations

from thalweg.scenarios import LocalEngine, parse_scenario, rewrite, run_scenario

BEFORE = """== about
Kept as it is.
== cql
CREATE STREAM s (ts TIMESTAMP, v STRING) TIMESTAMP BY ts LATENESS 1 SECOND;
REGISTER QUERY q AS SELECT v FROM s [RANGE 2 SECONDS];
REGISTER QUERY p AS SELECT v FROM s;
== input
+ 00:00:01 s | a    # kept too
+ 00:00:03 s | NULL
+ 00:00:01 s | late

== answer q
at 00:00:01..00:00:04
  wrong

== late s
== answer p
at 00:00:03
== changes q
- 00:00:01 | wrong
"""

AFTER = """== about
Kept as it is.
== cql
CREATE STREAM s (ts TIMESTAMP, v STRING) TIMESTAMP BY ts LATENESS 1 SECOND;
REGISTER QUERY q AS SELECT v FROM s [RANGE 2 SECONDS];
REGISTER QUERY p AS SELECT v FROM s;
== input
+ 00:00:01 s | a    # kept too
+ 00:00:03 s | NULL
+ 00:00:01 s | late

== answer q
at 00:00:01..00:00:02
  a
at 00:00:03..00:00:04
  NULL

== late s
00:00:01 | late
== answer p
at 00:00:03
  a
  NULL
== changes q
+ 00:00:01 | a
- 00:00:03 | a
+ 00:00:03 | NULL
"""


def test_only_expectations_change_and_then_they_hold() -> None:
    scenario = parse_scenario(BEFORE, "x.scenario")
    assert run_scenario(scenario, LocalEngine())
    assert rewrite(scenario, LocalEngine()) == AFTER
    assert run_scenario(parse_scenario(AFTER, "x.scenario"), LocalEngine()) == []


def test_what_holds_is_written_as_it_was() -> None:
    assert rewrite(parse_scenario(AFTER, "x.scenario"), LocalEngine()) == AFTER


def test_a_refused_scenario_stays() -> None:
    text = "== cql\nCREATE STREAM s (v INT);\nREGISTER QUERY q AS SELECT w FROM s;\n== refused\nw\n"
    assert rewrite(parse_scenario(text, "x.scenario"), LocalEngine()) == text
