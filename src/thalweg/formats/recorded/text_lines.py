"""The lines of a text file; lines that are too long or no UTF-8 are read as empty lines, and reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from thalweg.core.errors import DataError
from thalweg.formats.lines import LONGEST_LINE, BadLine, too_long

BadText = tuple[str, DataError]  # the place of a line, and why it is bad


class TextLines:
    """An iterator over the lines of a file, with their ends; `bad` returns the bad lines since it was last asked.

    No line of more than `longest` bytes is ever in memory as a whole.
    """

    def __init__(self, path: Path, longest: int = LONGEST_LINE) -> None:
        self._path, self._longest = path, longest
        self._bad: list[BadText] = []

    def __enter__(self) -> TextLines:
        self._file = self._path.open("rb")
        if self._file.read(3) != b"\xef\xbb\xbf":  # a byte order mark
            self._file.seek(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        number = 0
        while line := self._file.readline(self._longest + 2):
            number += 1
            if len(line.removesuffix(b"\n")) > self._longest:
                length = len(line.removesuffix(b"\n")) + (0 if line.endswith(b"\n") else self._skip())
                yield self._left_out(too_long(number, line, length, self._longest))
                continue
            try:
                yield line.decode()
            except UnicodeDecodeError:
                text = line.rstrip(b"\r\n").decode(errors="backslashreplace")
                yield self._left_out(BadLine(number, text, "this is not UTF-8"))

    def _skip(self) -> int:
        """Read to the end of the line; the number of bytes before it."""
        skipped = 0
        while part := self._file.readline(2**20):
            skipped += len(part.removesuffix(b"\n"))
            if part.endswith(b"\n"):
                break
        return skipped

    def _left_out(self, bad: BadLine) -> str:
        where = f"{self._path}, line {bad.line}"
        self._bad.append((where, DataError(f"{where}: {bad.reason}: {bad.text}")))
        return "\n"

    def bad(self) -> list[BadText]:
        """The bad lines since the last call."""
        found, self._bad = self._bad, []
        return found
