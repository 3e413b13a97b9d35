"""The text of a scenario: sections started by `== name`, read without knowing any engine or any schema.

    == about            what the scenario shows, in words
    == cql              CREATE and REGISTER QUERY statements
    == input            + time source | values     a row arrives (`-` as time: before the clock starts)
                        ~ time relation | values   a row replaces the one with its key
                        - time relation | key      a row is deleted
                        @ time                     nothing comes; time passes
    == answer query     at time, or at first..last, and below it, indented, the rows of the answer
    == changes query    + time | values and - time | values: all signed rows of the answer
    == late stream      time | values: the late rows
    == refused          parts of the error message that the CQL or the input must cause, one per line

A stream with TIMESTAMP BY takes its timestamp from the time in front; its cells are the other columns. Times are
integers, or ISO text where all streams have timestamps (a bare time of day is one of 1970-01-01). A range means every
tick; of timestamps every second and both ends. Strings may be quoted as in SQL; `#` starts a comment.
"""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.source_text import SourceText, Span
from thalweg.scenarios.cells import (
    Cell,
    ScenarioError,
    joined,
    lines_of,
    split_cells,
    split_words,
    text_of,
    trimmed,
    without_comment,
)
from thalweg.scenarios.sections import Section, split_sections


@dataclass(frozen=True)
class TimedLine:
    """A line of input, changes or late rows: a sign, a time, perhaps a source, and cells."""

    span: Span
    sign: str
    time: Cell
    source: Cell | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class AnswerBlock:
    """The rows expected at every instant from `first` to `last`."""

    span: Span
    first: Cell
    last: Cell
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class AnswerSection:
    """`== answer query`."""

    section: Section
    query: Cell
    blocks: tuple[AnswerBlock, ...]


@dataclass(frozen=True)
class TimedSection:
    """`== changes query` or `== late stream`."""

    section: Section
    subject: Cell
    lines: tuple[TimedLine, ...]


@dataclass(frozen=True)
class Scenario:
    """A scenario as written: its cells are still text, for their types depend on the CQL."""

    name: str
    source: SourceText
    about: str
    cql: str  # on the same lines as in the file, so that CQL errors point into the file
    input: tuple[TimedLine, ...]
    answers: tuple[AnswerSection, ...]
    changes: tuple[TimedSection, ...]
    late: tuple[TimedSection, ...]
    refused: tuple[str, ...]


def parse_scenario(text: str, name: str) -> Scenario:
    """The scenario in `text`; a ScenarioError names the file and the line of a mistake."""
    source = SourceText(text, name)
    sections = split_sections(source)
    by_kind: dict[str, list[Section]] = {}
    for section in sections:
        by_kind.setdefault(section.kind, []).append(section)
    scenario = Scenario(
        name,
        source,
        "\n".join(s.text.strip() for s in by_kind.get("about", [])),
        "".join(_in_place(s) for s in by_kind.get("cql", [])),
        tuple(_input_line(line) for s in by_kind.get("input", []) for line in _lines(s)),
        tuple(_answer(s) for s in by_kind.get("answer", [])),
        tuple(_timed(s, signed=True) for s in by_kind.get("changes", [])),
        tuple(_timed(s, signed=False) for s in by_kind.get("late", [])),
        tuple(text_of(trimmed(line)) for s in by_kind.get("refused", []) for line in _lines(s)),
    )
    _check_whole(scenario, by_kind)
    return scenario


def _check_whole(scenario: Scenario, by_kind: dict[str, list[Section]]) -> None:
    end = Span(scenario.source, len(scenario.source.text), len(scenario.source.text))
    if not scenario.cql.strip():
        raise ScenarioError("a scenario needs a section == cql", span=end)
    expected = [s for kind in ("answer", "changes", "late") for s in by_kind.get(kind, [])]
    refused = by_kind.get("refused", [])
    if refused and not scenario.refused:
        raise ScenarioError("== refused wants words of the error", span=refused[0].header)
    if refused and expected:
        raise ScenarioError("a scenario that is refused has nothing else to expect", span=expected[0].header)
    if not refused and not expected:
        raise ScenarioError("the scenario expects nothing", span=end, hint="add == answer, == changes or == refused")


def _in_place(section: Section) -> str:
    return "\n" * section.header.line + section.text


def _lines(section: Section) -> list[Span]:
    """The section's lines without comments and blank lines."""
    bare = [without_comment(line) for line in lines_of(section.body.source, section.body.start, section.body.end)]
    return [line for line in bare if text_of(line).strip()]


def _input_line(line: Span) -> TimedLine:
    sign, words, cells = _head(line, "+-~@")
    if sign == "@":
        if cells or not words:
            raise ScenarioError("@ wants a time and nothing else", span=line, hint="@ 8")
        return TimedLine(line, sign, joined(words), None, ())
    if len(words) < 2 or not cells:
        raise ScenarioError("expected a time, a source and values", span=line, hint=f"{sign} 5 sales | 4 | 'new'")
    return TimedLine(line, sign, joined(words[:-1]), words[-1], tuple(cells))


def _timed(section: Section, signed: bool) -> TimedSection:
    lines = []
    for line in _lines(section):
        sign, words, cells = _head(line, "+-" if signed else "")
        if not words or not cells:
            raise ScenarioError(
                "expected a time and values", span=line, hint="+ 5 | 4 | 'new'" if signed else "5 | 4 | 'new'"
            )
        lines.append(TimedLine(line, sign, joined(words), None, tuple(cells)))
    return TimedSection(section, section.require_subject(), tuple(lines))


def _head(line: Span, signs: str) -> tuple[str, list[Cell], list[Cell]]:
    """The sign, the words before the first `|`, and the cells behind it."""
    line = trimmed(line)
    bar = text_of(line).find("|")
    head = Span(line.source, line.start, line.end if bar < 0 else line.start + bar)
    cells = [] if bar < 0 else split_cells(Span(line.source, head.end + 1, line.end))
    words = split_words(head)
    if not signs:
        return "", words, cells
    if not words or words[0].text not in list(signs):
        raise ScenarioError(f"a line here starts with {' or '.join(signs)} and a blank", span=line)
    return words[0].text, words[1:], cells


def _answer(section: Section) -> AnswerSection:
    blocks: list[AnswerBlock] = []
    for line in _lines(section):
        if text_of(line)[0].isspace():
            if not blocks:
                raise ScenarioError("rows need a line `at time` above them", span=trimmed(line))
            last = blocks.pop()
            row = tuple(split_cells(line))
            blocks.append(AnswerBlock(last.span, last.first, last.last, (*last.rows, row)))
        else:
            blocks.append(_at(line))
    return AnswerSection(section, section.require_subject(), tuple(blocks))


def _at(line: Span) -> AnswerBlock:
    words = split_words(line)
    if words[0].text != "at" or len(words) < 2:
        raise ScenarioError("expected `at time` or an indented row", span=line, hint="at 5, or at 5..7")
    when = joined(words[1:])
    dots = when.text.find("..")
    if dots < 0:
        return AnswerBlock(line, when, when, ())
    ends = [Span(line.source, when.span.start, when.span.start + dots)]
    ends.append(Span(line.source, ends[0].end + 2, when.span.end))
    first, last = (Cell(text_of(trimmed(end)), False, trimmed(end)) for end in ends)
    return AnswerBlock(line, first, last, ())
