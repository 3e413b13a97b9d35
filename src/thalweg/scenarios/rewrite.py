"""Replaces a scenario's expectations by an engine's answers. For authors, who must check the differences themselves.

Tests never do this to the scenarios that they run: an expectation copied from an engine cannot catch its mistakes.
"""

from __future__ import annotations

from itertools import groupby

from thalweg.core.rows import Change, row_key, sorted_rows
from thalweg.core.schema import Schema
from thalweg.scenarios.bind import BoundScenario, ExpectedAnswer, bind_scenario
from thalweg.scenarios.diff import show_row
from thalweg.scenarios.format import Scenario
from thalweg.scenarios.runner import ScenarioEngine, feed_all
from thalweg.scenarios.sections import Section
from thalweg.scenarios.values import show_time


def rewrite(scenario: Scenario, engine: ScenarioEngine) -> str:
    """The scenario's text with the answers (at the same instants), changes and late rows of `engine`."""
    if scenario.refused:
        return scenario.source.text
    engine.prepare(scenario.cql, scenario.name)
    bound = bind_scenario(scenario)
    changes = feed_all(bound, engine)
    bodies: list[tuple[Section, list[str]]] = []
    for answer in scenario.answers:
        body = answer.section.body
        asked = [a for a in bound.answers if body.start <= a.span.start < body.end]
        bodies.append((answer.section, [line for a in asked for line in _answer_lines(bound, engine, a)]))
    for section, changed in zip(scenario.changes, bound.changes, strict=True):
        bodies.append((section.section, _change_lines(bound, changed.schema, changes[changed.query])))
    for section, late in zip(scenario.late, bound.late, strict=True):
        columns = [i for i in range(len(late.stream.schema)) if i != late.stream.timestamp]
        rows = [(a.t, show_row(late.stream.schema, a.row)) for a in engine.late(late.stream.name)]
        shown = [[show_time(t, bound.clock), *(cells[i] for i in columns)] for t, cells in rows]
        bodies.append((section.section, _aligned(shown)))
    return _replaced(scenario.source.text, bodies)


def _answer_lines(bound: BoundScenario, engine: ScenarioEngine, asked: ExpectedAnswer) -> list[str]:
    """One block for each run of instants with the same answer."""
    lines: list[str] = []
    bags = [(t, engine.answer(asked.query, t)) for t in asked.instants]
    for bag, group in groupby(bags, lambda pair: pair[1]):
        times = [show_time(t, bound.clock) for t, _ in group]
        lines.append(f"at {times[0]}" if len(times) == 1 else f"at {times[0]}..{times[-1]}")
        lines += ["  " + line for line in _aligned([show_row(asked.schema, row) for row in sorted_rows(bag)])]
    return lines


def _change_lines(bound: BoundScenario, schema: Schema, changes: list[Change]) -> list[str]:
    ordered = sorted(changes, key=lambda c: (c.t, c.sign, row_key(c.row)))
    return _aligned(
        [[f"{'+' if c.sign > 0 else '-'} {show_time(c.t, bound.clock)}", *show_row(schema, c.row)] for c in ordered]
    )


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [" | ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _replaced(text: str, bodies: list[tuple[Section, list[str]]]) -> str:
    for section, lines in sorted(bodies, key=lambda pair: -pair[0].body.start):
        body = "".join(f"{line}\n" for line in lines)
        blank = "\n" if section.text.endswith("\n\n") else ""
        text = text[: section.body.start] + body + blank + text[section.body.end :]
    return text
