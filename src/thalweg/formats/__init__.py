"""File formats of recorded streams, read into Arrow tables chunk by chunk; bad lines come beside each table."""

from collections.abc import Iterator
from typing import Protocol

from thalweg.core.schema import Schema
from thalweg.formats.lbl import read_lbl
from thalweg.formats.lines import LONGEST_LINE, BadLine, Chunk
from thalweg.formats.zeek import read_zeek, zeek_schema


class Reader(Protocol):
    """Reads a file in chunks; a line of more than `longest_line` bytes is a bad line."""

    def __call__(self, path: str, schema: Schema, *, longest_line: int = LONGEST_LINE) -> Iterator[Chunk]:
        """The columns of `schema`."""


FORMATS: dict[str, Reader] = {"zeek": read_zeek, "lbl": read_lbl}  # readers by the format's name

__all__ = ["FORMATS", "BadLine", "Chunk", "Reader", "read_lbl", "read_zeek", "zeek_schema"]
