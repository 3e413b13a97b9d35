"""A scenario bound to the schemas of its own CQL: events to feed, and answers to expect."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from thalweg.algebra.catalog import Catalog, Relation, Stream
from thalweg.algebra.plan import Plan
from thalweg.core.errors import did_you_mean
from thalweg.core.rows import Bag, Change, Row
from thalweg.core.schema import Field, Schema
from thalweg.core.source_text import Span
from thalweg.core.time import BEGINNING, SECOND, Clock, Instant
from thalweg.cql import compile_script
from thalweg.scenarios.cells import Cell, ScenarioError
from thalweg.scenarios.events import Advance, Arrive, Delete, Event, Insert, Update
from thalweg.scenarios.format import AnswerBlock, AnswerSection, Scenario, TimedLine, TimedSection
from thalweg.scenarios.values import read_row, read_time

_SIGNS = {"+": +1, "-": -1}


@dataclass(frozen=True)
class ExpectedAnswer:
    """The bag that a query must show at each of some instants."""

    query: str
    schema: Schema
    instants: tuple[Instant, ...]
    bag: Bag
    span: Span


@dataclass(frozen=True)
class ExpectedChanges:
    """All changes that a query must emit."""

    query: str
    schema: Schema
    changes: tuple[Change, ...]
    span: Span


@dataclass(frozen=True)
class ExpectedLate:
    """The rows of a stream that must be late."""

    stream: Stream
    rows: tuple[Arrive, ...]
    span: Span


@dataclass(frozen=True)
class BoundScenario:
    """Events to feed, and answers, changes and late rows to expect."""

    clock: Clock
    events: tuple[Event, ...]
    answers: tuple[ExpectedAnswer, ...]
    changes: tuple[ExpectedChanges, ...]
    late: tuple[ExpectedLate, ...]

    @property
    def last(self) -> Instant | None:
        """The last instant of any event or expectation; None if there is none."""
        times = [e.t for e in self.events]
        times += [t for a in self.answers for t in a.instants] + [c.t for e in self.changes for c in e.changes]
        return max((t for t in times if t > BEGINNING), default=None)


def bind_scenario(scenario: Scenario) -> BoundScenario:
    """The scenario with every cell read as its column's type; errors point into the file."""
    return _Binder(scenario).bind()


class _Binder:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.catalog = Catalog()
        queries = compile_script(scenario.cql, self.catalog, scenario.name, today=0)
        self.plans: dict[str, Plan] = {q.name: q.plan for q in queries if q.name is not None}
        # As in a session: the clock has timestamps if every stream has, else plain ticks.
        clocks = {s.clock for s in self.catalog.streams}
        self.clock = Clock.TIMESTAMPS if clocks == {Clock.TIMESTAMPS} else Clock.TICKS

    def bind(self) -> BoundScenario:
        return BoundScenario(
            self.clock,
            self._events(),
            tuple(answer for section in self.scenario.answers for answer in self._answers(section)),
            tuple(map(self._changes, self.scenario.changes)),
            tuple(map(self._late, self.scenario.late)),
        )

    # -- input

    def _events(self) -> tuple[Event, ...]:
        events: list[Event] = []
        for line in self.scenario.input:
            event = self._event(line)
            if event.t == BEGINNING and any(e.t > BEGINNING for e in events):
                raise line.time.error("this comes after the clock has started", "put lines without a time first")
            events.append(event)
        return tuple(events)

    def _event(self, line: TimedLine) -> Event:
        if line.source is None:
            return Advance(read_time(line.time, self.clock))
        entry = self._source(line.source)
        before = line.time.text == "-"
        t = BEGINNING if before else read_time(line.time, self.clock)
        if isinstance(entry, Stream):
            if line.sign != "+" or before:
                what = "a stream only grows" if line.sign != "+" else "a row of a stream needs its time"
                raise ScenarioError(f"{what}: {entry.name} is a stream", span=line.span)
            return self._arrival(entry, line)
        if line.sign == "-":
            fields = [entry.schema[i] for i in entry.key]
            return Delete(entry.name, t, self._row(line, fields, f"the key of {entry.name}"))
        row = self._row(line, list(entry.schema), entry.name)
        return Insert(entry.name, t, row) if line.sign == "+" else Update(entry.name, t, row)

    def _arrival(self, stream: Stream, line: TimedLine) -> Arrive:
        t = read_time(line.time, self.clock)
        fields = [f for i, f in enumerate(stream.schema) if i != stream.timestamp]
        row = self._row(line, fields, stream.name)
        at = stream.timestamp
        return Arrive(stream.name, t, row if at is None else (*row[:at], t, *row[at:]))

    def _row(self, line: TimedLine, fields: list[Field], of: str) -> Row:
        _check_width(line.cells, fields, of, line.span)
        return read_row(line.cells, fields)

    # -- expectations

    def _answers(self, section: AnswerSection) -> list[ExpectedAnswer]:
        name, schema = self._query(section.query)
        return [self._answer(name, schema, block) for block in section.blocks]

    def _answer(self, name: str, schema: Schema, block: AnswerBlock) -> ExpectedAnswer:
        for row in block.rows:
            _check_width(row, list(schema), name, row[0].span)
        bag = Counter(read_row(row, schema) for row in block.rows)
        return ExpectedAnswer(name, schema, self._instants(block), bag, block.span)

    def _instants(self, block: AnswerBlock) -> tuple[Instant, ...]:
        """Every tick of a range; of a range of timestamps every second, and both ends."""
        first, last = read_time(block.first, self.clock), read_time(block.last, self.clock)
        if first > last:
            raise ScenarioError("the range ends before it starts", span=block.span)
        step = 1 if self.clock is Clock.TICKS else SECOND
        return (*range(first, last, step), last)

    def _changes(self, section: TimedSection) -> ExpectedChanges:
        name, schema = self._query(section.subject)
        changes = []
        for line in section.lines:
            row = self._row(line, list(schema), name)
            changes.append(Change(read_time(line.time, self.clock), _SIGNS[line.sign], row))
        return ExpectedChanges(name, schema, tuple(changes), section.section.header)

    def _late(self, section: TimedSection) -> ExpectedLate:
        entry = self._source(section.subject)
        if not isinstance(entry, Stream):
            raise section.subject.error(f"only streams have late rows, {entry.name} is a {entry.kind}")
        rows = tuple(self._arrival(entry, line) for line in section.lines)
        return ExpectedLate(entry, rows, section.section.header)

    # -- names

    def _source(self, cell: Cell) -> Stream | Relation:
        names = [s.name for s in self.catalog.streams] + [r.name for r in self.catalog.relations]
        if cell.text.casefold() not in map(str.casefold, names):
            hint = did_you_mean(cell.text, names)
            raise cell.error(f"there is no stream or relation {cell.text}", hint, tuple(names))
        entry = self.catalog.get(cell.text)
        assert isinstance(entry, Stream | Relation)
        return entry

    def _query(self, cell: Cell) -> tuple[str, Schema]:
        for name, plan in self.plans.items():
            if name.casefold() == cell.text.casefold():
                return name, plan.schema
        raise cell.error(f"there is no query {cell.text}", did_you_mean(cell.text, self.plans), tuple(self.plans))


def _check_width(cells: tuple[Cell, ...], fields: list[Field], of: str, span: Span) -> None:
    if len(cells) != len(fields):
        columns = ", ".join(map(str, fields))
        raise ScenarioError(f"{of} has {len(fields)} values ({columns}), here are {len(cells)}", span=span)
