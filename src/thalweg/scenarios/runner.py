"""Runs a scenario on any engine and reports, row by row, where the engine differs from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from thalweg.core.errors import ThalwegError
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.source_text import Span
from thalweg.core.time import Instant
from thalweg.scenarios.bind import BoundScenario, ExpectedAnswer, ExpectedChanges, ExpectedLate, bind_scenario
from thalweg.scenarios.cells import ScenarioError
from thalweg.scenarios.diff import answer_diff, changes_diff, late_diff
from thalweg.scenarios.events import Advance, Arrive, Event
from thalweg.scenarios.format import Scenario


class ScenarioEngine(Protocol):
    """The methods of an engine that scenarios call. It refuses impossible CQL or input with a ThalwegError."""

    def prepare(self, cql: str, name: str) -> None:
        """Declare streams and relations and register the queries; `name` is what errors call the text."""

    def feed(self, events: Sequence[Event]) -> None:
        """Feed these events, in this order."""

    def answer(self, query: str, t: Instant) -> Bag:
        """The answer at an instant that has passed."""

    def changes(self, query: str) -> list[Change]:
        """The signed rows since the last call."""

    def late(self, stream: str) -> list[Arrive]:
        """The rows of a stream that came too late."""


@dataclass(frozen=True)
class Mismatch:
    """One difference between an engine and a scenario."""

    scenario: str
    what: str
    diff: str
    span: Span | None = None

    def __str__(self) -> str:
        place = self.scenario if self.span is None else f"{self.scenario}:{self.span.line}"
        return f"{place}: {self.what}\n{self.diff}"


def run_scenario(scenario: Scenario, engine: ScenarioEngine, batch_size: int | None = None) -> list[Mismatch]:
    """All differences between `engine` and the scenario.

    The input is fed at once, or `batch_size` events at a time with the changes read after each batch. Answers, and
    the sums of the changes of each instant, must be the same either way.
    """
    try:
        engine.prepare(scenario.cql, scenario.name)
        bound = bind_scenario(scenario)
        changes = feed_all(bound, engine, batch_size)
    except ThalwegError as error:
        if not scenario.refused or isinstance(error, ScenarioError):
            raise
        return _check_refusal(scenario, str(error))
    if scenario.refused:
        return [Mismatch(scenario.name, "should have been refused", "  - " + "\n  - ".join(scenario.refused))]
    return list(_compare(scenario.name, bound, engine, changes, exact=batch_size is None))


def feed_all(bound: BoundScenario, engine: ScenarioEngine, batch_size: int | None = None) -> dict[str, list[Change]]:
    """Feed a scenario's input, let time pass to its last instant, and collect the changes of its queries."""
    events = list(bound.events)
    if bound.last is not None:
        events.append(Advance(bound.last))
    changes: dict[str, list[Change]] = {expected.query: [] for expected in bound.changes}
    size = batch_size or max(1, len(events))
    for start in range(0, len(events), size):
        engine.feed(events[start : start + size])
        for query, seen in changes.items():
            seen += engine.changes(query)
    return changes


def _check_refusal(scenario: Scenario, message: str) -> list[Mismatch]:
    missing = [words for words in scenario.refused if words not in message]
    if not missing:
        return []
    lines = [f"  - {words}" for words in missing] + [f"  + {line}" for line in message.splitlines()]
    return [Mismatch(scenario.name, "refused, but in other words", "\n".join(lines))]


def _compare(
    name: str, bound: BoundScenario, engine: ScenarioEngine, changes: dict[str, list[Change]], exact: bool
) -> Iterator[Mismatch]:
    for answer in bound.answers:
        yield from _compare_answer(name, bound, engine, answer)
    for expected in bound.changes:
        yield from _compare_changes(name, bound, changes[expected.query], expected, exact)
    for late in bound.late:
        yield from _compare_late(name, bound, engine.late(late.stream.name), late)


def _compare_answer(
    name: str, bound: BoundScenario, engine: ScenarioEngine, expected: ExpectedAnswer
) -> Iterator[Mismatch]:
    for t in expected.instants:
        bag = engine.answer(expected.query, t)
        if bag != expected.bag:
            what = f"answer of {expected.query} at {bound.clock.show(t)}"
            yield Mismatch(name, what, answer_diff(expected.schema, expected.bag, bag), expected.span)


def _compare_changes(
    name: str, bound: BoundScenario, seen: list[Change], expected: ExpectedChanges, exact: bool
) -> Iterator[Mismatch]:
    """With `exact`, a row that comes and goes at one instant counts as a difference; else changes are added up."""
    got, wanted = (Counter(c) if exact else net_changes(c) for c in (seen, expected.changes))
    if got != wanted:
        diff = changes_diff(expected.schema, bound.clock, wanted, got)
        yield Mismatch(name, f"changes of {expected.query}", diff, expected.span)


def _compare_late(name: str, bound: BoundScenario, seen: list[Arrive], expected: ExpectedLate) -> Iterator[Mismatch]:
    got, wanted = Counter(seen), Counter(expected.rows)
    if got != wanted:
        diff = late_diff(expected.stream, bound.clock, wanted, got)
        yield Mismatch(name, f"late rows of {expected.stream.name}", diff, expected.span)


def net_changes(changes: Sequence[Change]) -> Counter[Change]:
    """The changes, added up for each row and instant."""
    sums: Counter[tuple[Instant, Row]] = Counter()
    for change in changes:
        sums[change.t, change.row] += change.sign
    return Counter({Change(t, 1 if n > 0 else -1, row): abs(n) for (t, row), n in sums.items() if n})
