"""Lines and cells of a scenario file: comments, quotes, and the place of each cell, for error messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from thalweg.core.errors import ThalwegError
from thalweg.core.source_text import SourceText, Span


class ScenarioError(ThalwegError):
    """A scenario file is malformed, or does not fit its own CQL."""


@dataclass(frozen=True)
class Cell:
    """A piece of a line: its text without quotes, whether it had quotes, and where it stands."""

    text: str
    quoted: bool
    span: Span

    def error(self, message: str, hint: str | None = None, candidates: tuple[str, ...] = ()) -> ScenarioError:
        """An error that points at this piece."""
        return ScenarioError(message, span=self.span, hint=hint, candidates=candidates)


def lines_of(source: SourceText, start: int, end: int) -> Iterator[Span]:
    """The lines between two offsets, as spans without their newlines."""
    while start < end:
        newline = source.text.find("\n", start, end)
        stop = end if newline < 0 else newline
        yield Span(source, start, stop)
        start = stop + 1


def text_of(span: Span) -> str:
    """The characters a span covers."""
    return span.source.text[span.start : span.end]


def without_comment(line: Span) -> Span:
    """The line up to its comment, without trailing blanks; a `#` between quotes starts no comment."""
    stop = next(_outside_quotes(line, "#"), line.end)
    return trimmed(Span(line.source, line.start, stop), left=False)


def split_cells(span: Span) -> list[Cell]:
    """The cells between the `|` of a line."""
    edges = [span.start - 1, *_outside_quotes(span, "|"), span.end]
    return [_cell(Span(span.source, a + 1, b)) for a, b in pairwise(edges)]


def split_words(span: Span) -> list[Cell]:
    """The words of a line, by blanks."""
    words, start = [], span.start
    for word in text_of(span).split():
        start = span.source.text.index(word, start)
        words.append(Cell(word, False, Span(span.source, start, start + len(word))))
        start += len(word)
    return words


def joined(words: list[Cell]) -> Cell:
    """Several words as one cell: a date and a time, say."""
    first, last = words[0].span, words[-1].span
    return Cell(" ".join(w.text for w in words), False, Span(first.source, first.start, last.end))


def trimmed(span: Span, left: bool = True) -> Span:
    """The span without the blanks around it."""
    text = text_of(span)
    start = span.start + (len(text) - len(text.lstrip()) if left else 0)
    return Span(span.source, start, max(start, span.end - (len(text) - len(text.rstrip()))))


def _outside_quotes(span: Span, wanted: str) -> Iterator[int]:
    """Offsets of `wanted` outside quotes. A quote opens only at the start of a cell: `it's` needs none."""
    inside, fresh = False, True
    for offset in range(span.start, span.end):
        char = span.source.text[offset]
        if char == "'" and (inside or fresh):
            inside, fresh = not inside, True  # once closed, a doubled quote opens it again
        elif not inside:
            if char == wanted:
                yield offset
            fresh = char == "|" or (fresh and char.isspace())


def _cell(span: Span) -> Cell:
    span = trimmed(span)
    text = text_of(span)
    if not text:
        raise ScenarioError("a cell is empty", span=span, hint="write NULL, or '' for the empty string")
    if not text.startswith("'"):
        return Cell(text, False, span)
    inner = text[1:-1]
    if len(text) < 2 or not text.endswith("'") or "'" in inner.replace("''", ""):
        raise ScenarioError(
            "a quoted cell must end with its quote", span=span, hint="a quote inside is written twice: 'it''s'"
        )
    return Cell(inner.replace("''", "'"), True, span)
