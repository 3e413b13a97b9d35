"""Files of lines, plain or gzipped, on any file system that Arrow knows, in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.fs

from thalweg.core.errors import DataError
from thalweg.core.lanes import Flags, Ints

BLOCK = 4 * 2**20  # bytes; the rows of one block become one chunk
LONGEST_LINE = 16 * 2**20  # bytes; a file that is one endless line must not take all memory
_SHOWN = 200  # bytes of a line that is too long


class BadLine(NamedTuple):
    """A line that could not be read: its number (from 1), its text and the reason."""

    line: int
    text: str
    reason: str


class Chunk(NamedTuple):
    """Some rows of a file with their line numbers, and the bad lines among them."""

    table: pa.Table
    lines: Ints
    bad: Sequence[BadLine]


@dataclass(frozen=True)
class Block:
    """Whole lines, each ended by a newline; `first` is the number of the first.

    Lines in `bad` were too long to keep: here they are empty, so that the others keep their numbers.
    """

    data: bytes
    first: int
    bad: tuple[BadLine, ...] = ()

    @cached_property
    def ends(self) -> Ints:
        """Where each line's newline stands."""
        return np.flatnonzero(np.frombuffer(self.data, dtype=np.uint8) == ord("\n"))

    @cached_property
    def starts(self) -> Ints:
        """Where each line begins."""
        return np.concatenate(([0], self.ends[:-1] + 1))

    @property
    def blank(self) -> Flags:
        """Which lines are empty."""
        length = self.ends - self.starts
        returns = np.frombuffer(self.data, dtype=np.uint8)[self.starts] == ord("\r")
        return np.asarray((length == 0) | ((length == 1) & returns))

    def text(self, index: int) -> str:
        """The line at `index` of this block; bytes that are no UTF-8 show as escapes."""
        line = self.data[self.starts[index] : self.ends[index]]
        return line.removesuffix(b"\r").decode(errors="backslashreplace")

    def cut(self, begin: int, end: int) -> Block:
        """The lines from index `begin` up to `end`."""
        if begin >= end:
            return Block(b"", self.first + begin)
        bad = tuple(b for b in self.bad if begin <= b.line - self.first < end)
        return Block(self.data[self.starts[begin] : self.ends[end - 1] + 1], self.first + begin, bad)

    def without_long_lines(self, longest: int) -> Block:
        """The same with lines of more than `longest` bytes made empty; they are in `bad`."""
        lengths = self.ends - self.starts
        if len(self.data) <= longest or not (lengths > longest).any():
            return self
        lines, bad = self.data.split(b"\n")[:-1], []
        for i in np.flatnonzero(lengths > longest).tolist():
            bad.append(too_long(self.first + i, lines[i], len(lines[i]), longest))
            lines[i] = b""
        return Block(b"\n".join([*lines, b""]), self.first, (*self.bad, *bad))


def file_system(path: str) -> tuple[pa.fs.FileSystem, str]:
    """The file system of a path, and the path in it: by scheme (`s3://...`), or on this machine without one."""
    return pa.fs.FileSystem.from_uri(path) if "://" in path else (pa.fs.LocalFileSystem(), path)


def open_file(path: str) -> pa.NativeFile:
    """Open a file for reading, unpacked if its name ends in .gz; a DataError if it cannot be opened."""
    try:
        system, inner = file_system(path)
        return system.open_input_stream(inner, compression="gzip" if path.endswith(".gz") else None)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from None


def read_blocks(path: str, size: int = BLOCK, longest: int = LONGEST_LINE) -> Iterator[Block]:
    """The file's lines in blocks of about `size` bytes; a last line without a newline gets one.

    Of a line of more than `longest` bytes only the beginning is kept, so memory is bounded by `size` and `longest`.
    """
    rest, first = b"", 1
    with open_file(path) as file:
        while data := _read(file, size, path):
            *whole, rest = (rest + data).rsplit(b"\n", 1)
            if whole:
                block = Block(whole[0] + b"\n", first).without_long_lines(longest)
                yield block
                first += len(block.ends)
            if len(rest) > longest:
                head, length = rest[:_SHOWN], len(rest)
                rest, skipped = _after_line(file, size, path)
                yield Block(b"\n", first, (too_long(first, head, length + skipped, longest),))
                first += 1
    if rest:
        yield Block(rest + b"\n", first).without_long_lines(longest)


def _after_line(file: pa.NativeFile, size: int, path: str) -> tuple[bytes, int]:
    """Read to the end of the present line: what was read of the lines after it, and how many bytes were skipped."""
    skipped = 0
    while data := _read(file, size, path):
        line, newline, rest = data.partition(b"\n")
        skipped += len(line)
        if newline:
            return rest, skipped
    return b"", skipped


def too_long(number: int, line: bytes, length: int, longest: int) -> BadLine:
    """A line of more bytes than are allowed: its beginning, and its length."""
    text = line[:_SHOWN].decode(errors="backslashreplace") + "..."
    return BadLine(number, text, f"the line has {length:,} bytes, and at most {longest:,} are read (longest_line)")


def sift(block: Block) -> tuple[Block, list[BadLine]]:
    """The block with its malformed lines made empty, so that line numbers stay, and those lines."""
    data = block.data
    if _is_utf8(data) and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")):
        return block, [*block.bad]
    lines, bad = data.split(b"\n")[:-1], [*block.bad]
    for i, line in enumerate(lines):
        if reason := _unfit(line):
            bad.append(BadLine(block.first + i, block.text(i), reason))
            lines[i] = b""
    return Block(b"\n".join([*lines, b""]), block.first), bad


def _unfit(line: bytes) -> str | None:
    if b"\r" in line.removesuffix(b"\r"):
        return "there is a carriage return inside the line"
    return None if _is_utf8(line) else "this is not UTF-8"


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeDecodeError:
        return False


def _read(file: pa.NativeFile, size: int, path: str) -> bytes:
    try:
        return bytes(file.read(size))
    except (OSError, pa.ArrowException) as error:  # a gzip file that is cut off, for one
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> DataError:
    return DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
