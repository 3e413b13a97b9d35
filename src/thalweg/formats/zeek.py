"""Zeek logs of any kind that has a `ts`: conn, dns, http, ... as text with a header or as JSON lines, maybe gzipped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats.lines import BLOCK, LONGEST_LINE, Block, Chunk, read_blocks
from thalweg.formats.names import plain
from thalweg.formats.zeek_json import read_json_blocks, sample
from thalweg.formats.zeek_text import Header, read_text_blocks

_LINES_FOR_SCHEMA = 1_000  # of a JSON log, to find its columns and types


def read_zeek(
    path: str, schema: Schema | None = None, block_size: int = BLOCK, longest_line: int = LONGEST_LINE
) -> Iterator[Chunk]:
    """The rows of a log, chunk by chunk. `schema` selects columns and types; `id_orig_h` stands for `id.orig_h`.

    A line of more than `longest_line` bytes is a bad line.
    """
    blocks = read_blocks(path, block_size, longest_line)
    begin = _up_to_text(blocks)
    if not begin:
        return
    every = chain(begin, blocks)
    if _is_json(path, begin[-1]):
        yield from read_json_blocks(every, schema or _json_schema(path, begin[-1]))
    else:
        yield from read_text_blocks(path, every, schema)


def zeek_schema(path: str) -> Schema:
    """The columns of a log, from its header or, for JSON, from its first lines."""
    begin = _up_to_text(read_blocks(path))
    if not begin:
        raise DataError(f"{path} is empty")
    first = begin[-1]
    if _is_json(path, first):
        return _json_schema(path, first)
    header = Header()
    for i in range(len(first.ends)):
        if not first.text(i).startswith("#"):
            break
        header = header.after(first.text(i))
    return header.schema


def _up_to_text(blocks: Iterator[Block]) -> list[Block]:
    """The first blocks, up to one with a line that was not too long to keep."""
    begin = []
    for block in blocks:
        begin.append(block)
        if block.data.strip():
            break
    return begin


def _is_json(path: str, block: Block) -> bool:
    start = block.data.lstrip()[:1]
    if not start and block.bad:  # one line, too long: a bad row either way
        return True
    if start not in (b"#", b"{"):
        raise DataError(f"{path} is no Zeek log: it begins with neither # nor {{")
    return start == b"{"


def _json_schema(path: str, block: Block) -> Schema:
    fields: dict[str, Field] = {}
    for found in sample(block, lines=_LINES_FOR_SCHEMA):
        for key, value in found.items():
            fields.setdefault(key, Field(plain(key), _json_type(key, value)))
    if not fields:
        raise DataError(f"{path} has no JSON object on its first lines")
    return Schema(tuple(fields.values()))


def _json_type(key: str, value: Any) -> DataType:
    match value:
        case _ if key == "ts":
            return DataType.TIMESTAMP
        case bool():
            return DataType.BOOLEAN
        case int():
            return DataType.BIGINT
        case float():
            return DataType.DOUBLE
        case _:
            return DataType.STRING
