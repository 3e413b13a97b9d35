"""Zeek's own text logs: lines of cells under a header of `#` lines that names the columns and their types.

A file may have several headers with different columns (logs that were concatenated). `-` is unset, `(empty)` is an
empty text or set, and separators inside a text are written as `\\x09`. Sets and vectors stay text: `a,b`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats.delimited import CellLayout, read_block
from thalweg.formats.lines import Block, Chunk
from thalweg.formats.names import places_of, plain

_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})|\\\\")

# By Zeek's type: the default type of a column, then the types that may be declared instead. STRING always may.
_TYPES: dict[str, tuple[DataType, ...]] = {
    "time": (DataType.TIMESTAMP, DataType.DOUBLE),
    "interval": (DataType.DOUBLE, DataType.INTERVAL),
    "double": (DataType.DOUBLE,),
    "count": (DataType.BIGINT, DataType.DOUBLE),
    "int": (DataType.BIGINT, DataType.DOUBLE),
    "port": (DataType.BIGINT, DataType.DOUBLE),
    "bool": (DataType.BOOLEAN,),
}


@dataclass(frozen=True)
class Header:
    """The contents of the `#` lines so far."""

    separator: str = "\t"
    unset: str = "-"
    empty: str = "(empty)"
    fields: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def after(self, line: str) -> Header:
        """The header with one more `#` line."""
        if line.startswith("#separator"):
            escaped = line.removeprefix("#separator").strip()
            return replace(self, separator=_unescape(escaped.encode()) or "\t")
        key, *values = line.split(self.separator)
        match key:
            case "#unset_field":
                return replace(self, unset=values[0] if values else "-")
            case "#empty_field":
                return replace(self, empty=values[0] if values else "(empty)")
            case "#fields":
                return replace(self, fields=tuple(values), types=())
            case "#types":
                return replace(self, types=tuple(values))
            case _:  # #path, #open, #close, #set_separator do not concern rows
                return self

    @property
    def schema(self) -> Schema:
        """The columns, each with the default type for its Zeek type."""
        types = self.types or ("string",) * len(self.fields)
        if len(types) != len(self.fields):
            raise DataError("#types and #fields differ in length")
        pairs = zip(self.fields, types, strict=True)
        return Schema(tuple(Field(plain(name), _types(type_)[0]) for name, type_ in pairs))

    def repair(self, texts: pa.Array) -> pa.Array:
        """Strings without Zeek's escapes and its mark for empty texts."""
        empty = pc.equal(texts, self.empty)
        if pc.any(empty).as_py():
            texts = pc.if_else(empty, "", texts)
        escaped = pc.match_substring(texts, "\\")
        if pc.any(escaped).as_py():  # rare, and then in few rows
            plain_texts = [_unescape(t.encode()) for t in texts.filter(escaped).to_pylist()]
            texts = pc.replace_with_mask(texts, pc.fill_null(escaped, False), pa.array(plain_texts, pa.string()))
        return texts


def read_text_blocks(path: str, blocks: Iterator[Block], schema: Schema | None) -> Iterator[Chunk]:
    """The rows of a text log, in chunks; all rows of a chunk are under the same header."""
    header = Header()
    for block in blocks:
        marks = np.flatnonzero(np.frombuffer(block.data, dtype=np.uint8)[block.starts] == ord("#"))
        begin = 0
        for mark in [*marks.tolist(), len(block.ends)]:
            if begin < mark:
                yield _rows(path, block.cut(begin, mark), header, schema)
            if mark < len(block.ends):
                header = header.after(block.text(mark))
            begin = mark + 1


def _rows(path: str, block: Block, header: Header, schema: Schema | None) -> Chunk:
    if not header.fields and schema is not None and block.blank.all():
        return Chunk(schema.arrow.empty_table(), np.empty(0, dtype=np.int64), block.bad)
    if not header.fields:
        raise DataError(
            f"{path}, line {block.first}: there is a row before any #fields line", hint="is this a Zeek log?"
        )
    if header.types and len(header.types) != len(header.fields):
        raise DataError(f"{path}, line {block.first}: #types and #fields differ in length")
    if len(header.separator) != 1:
        raise DataError(f"{path}: #separator wants one character, got {header.separator!r}")
    wanted = header.schema if schema is None else schema
    places = places_of(path, wanted, header.fields)
    for place, field in zip(places, wanted, strict=True):
        given = header.types[place] if header.types else "string"
        if header.types and field.type not in (*_types(given), DataType.STRING):
            raise DataError(
                f"{path}: column {field.name} wants {field.type}, the file has {given}",
                candidates=dict.fromkeys(map(str, (*_types(given), DataType.STRING))),
            )
    return read_block(
        block, CellLayout(len(header.fields), header.separator, header.unset, header.repair), wanted, places
    )


def _types(zeek: str) -> tuple[DataType, ...]:
    return _TYPES.get(zeek, (DataType.STRING,))


def _unescape(text: bytes) -> str:
    """The text with escapes such as `\\x09` replaced, unless the result would not be UTF-8."""
    found = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else b"\\", text)
    try:
        return found.decode()
    except UnicodeDecodeError:
        return text.decode()
