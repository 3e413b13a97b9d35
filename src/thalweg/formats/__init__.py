"""File formats of recorded streams, read into Arrow tables chunk by chunk; bad lines come beside each table."""

from collections.abc import Callable, Iterator

from thalweg.core.schema import Schema
from thalweg.formats.lbl import read_lbl
from thalweg.formats.lines import BadLine, Chunk
from thalweg.formats.zeek import read_zeek, zeek_schema

# Readers by the format's name: (path, schema) to chunks.
FORMATS: dict[str, Callable[[str, Schema], Iterator[Chunk]]] = {"zeek": read_zeek, "lbl": read_lbl}

__all__ = ["FORMATS", "BadLine", "Chunk", "read_lbl", "read_zeek", "zeek_schema"]
