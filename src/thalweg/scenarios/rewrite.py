"""Writes a scenario's expectations anew from what an engine gives. For authors, by hand, with eyes on the diff.

Tests never call this on their own files: an expectation that follows the engine can no longer catch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from thalweg.core.rows import Change, Row, sorted_rows
from thalweg.core.time import Instant
from thalweg.scenarios.bind import BoundScenario, ExpectedAnswer, bind_scenario
from thalweg.scenarios.diff import show_row
from thalweg.scenarios.events import Arrive
from thalweg.scenarios.format import Scenario
from thalweg.scenarios.runner import Engine, feed_all
from thalweg.scenarios.sections import Section
from thalweg.scenarios.values import show_time


def rewrite(scenario: Scenario, engine: Engine) -> str:
    """The scenario's text with its answers, changes and late rows as `engine` gives them, at the same instants."""
    if scenario.refused:
        return scenario.source.text
    engine.prepare(scenario.cql, scenario.name)
    bound = bind_scenario(scenario)
    changes = feed_all(bound, engine)
    bodies: dict[Section, str] = {}
    for answers in scenario.answers:
        blocks = [a for a in bound.answers if a.query.casefold() == answers.query.text.casefold()]
        bodies[answers.section] = "".join(_answer(bound, engine, block) for block in blocks)
    for section, changed in zip(scenario.changes, bound.changes, strict=True):
        bodies[section.section] = _changes(bound, changed.schema.types and changed, changes[changed.query])
    return ""


def _unused() -> None: ...
