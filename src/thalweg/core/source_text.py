"""A piece of CQL text and places in it, so that an error can point with a caret."""

from __future__ import annotations

from dataclasses import dataclass

_WIDEST = 400  # characters of a line above a caret


@dataclass(frozen=True)
class SourceText:
    """The text of a query or file, with a name to show (`query`, or a file's path)."""

    text: str
    name: str = "query"

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds the character at `offset`."""
        return self.text.count("\n", 0, offset) + 1

    def column_of(self, offset: int) -> int:
        """The 1-based column of the character at `offset`."""
        return offset - (self.text.rfind("\n", 0, offset) + 1) + 1


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` (exclusive) of a source."""

    source: SourceText
    start: int
    end: int

    @property
    def line(self) -> int:
        """The 1-based line where the span starts."""
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        """The 1-based column where the span starts."""
        return self.source.column_of(self.start)

    def caret(self) -> str:
        """The span's first line with its characters underlined.

        >>> print(Span(SourceText("SELECT x FROM s"), 7, 8).caret())
          --> query:1:8
        1 | SELECT x FROM s
          |        ^
        """
        text = self.source.text
        first = text.rfind("\n", 0, self.start) + 1
        newline = text.find("\n", self.start)
        last = len(text) if newline < 0 else newline
        before, after = "", ""
        if last - first > _WIDEST:  # a part of a long line is enough
            first, before = (first, "") if self.start - first <= _WIDEST // 2 else (self.start - _WIDEST // 2, "...")
            last, after = (last, "") if last - first <= _WIDEST else (first + _WIDEST, "...")
        shown = before + text[first:last] + after
        # A tab keeps its width only if the line above the caret has it too.
        indent = " " * len(before) + "".join("\t" if c == "\t" else " " for c in text[first : self.start])
        width = max(1, min(self.end, last) - self.start)
        number = str(self.line)
        gutter = " " * len(number)
        return "\n".join(
            [
                f"{gutter} --> {self.source.name}:{self.line}:{self.column}",
                f"{number} | {shown}",
                f"{gutter} | {indent}{'^' * width}",
            ]
        )
