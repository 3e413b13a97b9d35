"""The sections of a scenario file."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.errors import did_you_mean
from thalweg.core.source_text import SourceText, Span
from thalweg.scenarios.cells import Cell, ScenarioError, joined, lines_of, split_words, text_of

# The kinds of section; some need the name of a query or stream behind the kind.
KINDS: dict[str, str | None] = {
    "about": None,
    "cql": None,
    "input": None,
    "answer": "query",
    "changes": "query",
    "late": "stream",
    "refused": None,
}


@dataclass(frozen=True)
class Section:
    """`== kind subject`, and the text below it."""

    kind: str
    subject: Cell | None
    header: Span
    body: Span

    @property
    def text(self) -> str:
        """The text below the header."""
        return text_of(self.body)

    def require_subject(self) -> Cell:
        """The query or stream that the section names."""
        assert self.subject is not None  # split_sections checks that
        return self.subject


def split_sections(source: SourceText) -> list[Section]:
    """All sections, in order, each with a known name and, where it needs one, a subject."""
    lines = list(lines_of(source, 0, len(source.text)))
    starts = [i for i, line in enumerate(lines) if text_of(line).startswith("==")]
    before = next((line for line in lines[: starts[0] if starts else None] if text_of(line).strip()), None)
    if before is not None:
        raise ScenarioError("text before the first section", span=before, hint="a section starts with == about")
    sections: list[Section] = []
    for i, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        end = lines[following].start if following < len(lines) else len(source.text)
        body = Span(source, min(lines[i].end + 1, end), end)
        section = _section(lines[i], body)
        _check_new(section, sections)
        sections.append(section)
    return sections


def _section(header: Span, body: Span) -> Section:
    words = split_words(header)
    if words[0].text != "==" or len(words) < 2:
        raise ScenarioError("a section starts with == and its name", span=header, candidates=KINDS)
    kind, rest = words[1], words[2:]
    if kind.text not in KINDS:
        raise kind.error(f"there is no section {kind.text}", did_you_mean(kind.text, KINDS), tuple(KINDS))
    wanted = KINDS[kind.text]
    if len(rest) != (wanted is not None):
        raise ScenarioError(
            f"== {kind.text} wants {f'the name of one {wanted}' if wanted else 'nothing'} behind it", span=header
        )
    return Section(kind.text, joined(rest) if rest else None, header, body)


def _check_new(section: Section, sections: list[Section]) -> None:
    subject = section.subject.text.casefold() if section.subject else None
    for other in sections:
        same = (other.subject.text.casefold() if other.subject else None) == subject
        if other.kind == section.kind and same:
            raise ScenarioError(f"this section is already on line {other.header.line}", span=section.header)
