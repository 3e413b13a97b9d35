"""Zeek's logs as JSON lines: one object per line, an absent name is unset, `ts` is seconds since 1970 or ISO 8601.

Arrow parses a whole block if all its lines are good. If not, the block is halved again and again, and small blocks are
read line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from thalweg.core.errors import DataError
from thalweg.core.lanes import Ints
from thalweg.core.schema import Field, Schema
from thalweg.core.types import NO_BIGINT, DataType
from thalweg.formats.cells import from_seconds
from thalweg.formats.json_values import number_text, read_json_line
from thalweg.formats.lines import BadLine, Block, Chunk, sift
from thalweg.formats.names import plain

LINE_BY_LINE_UP_TO = 16  # lines of a block; so few are read without Arrow
_LINES_FOR_KEYS = 30  # to look at for the keys and types that Arrow is to expect


class _MisfitError(Exception):
    """Arrow cannot read this block at once."""


def read_json_blocks(
    blocks: Iterator[Block], schema: Schema, line_by_line_up_to: int = LINE_BY_LINE_UP_TO
) -> Iterator[Chunk]:
    """The rows of a JSON log, in chunks. Blocks of up to `line_by_line_up_to` lines are read without Arrow."""
    for block in blocks:
        sifted, bad = sift(block)
        for chunk in _by_halves(sifted, schema, line_by_line_up_to):
            yield Chunk(chunk.table, chunk.lines, [*bad, *chunk.bad])
            bad = []


def sample(block: Block, lines: int = _LINES_FOR_KEYS) -> list[dict[str, Any]]:
    """The objects on the first lines of a block."""
    found = []
    for i in range(min(lines, len(block.ends))):
        try:
            value = json.loads(block.text(i))
        except ValueError:
            continue
        found += [value] if isinstance(value, dict) else []
    return found


def _by_halves(block: Block, schema: Schema, line_by_line_up_to: int) -> Iterator[Chunk]:
    count = len(block.ends)
    if count <= line_by_line_up_to:
        yield _one_by_one(block, schema)
        return
    try:
        yield _at_once(block, schema)
    except (_MisfitError, pa.ArrowInvalid):
        yield from _by_halves(block.cut(0, count // 2), schema, line_by_line_up_to)
        yield from _by_halves(block.cut(count // 2, count), schema, line_by_line_up_to)


def _one_by_one(block: Block, schema: Schema) -> Chunk:
    rows, lines, bad = [], [], []
    for i in np.flatnonzero(~block.blank).tolist():
        try:
            rows.append(read_json_line(block.text(i), schema))
            lines.append(block.first + i)
        except DataError as error:
            bad.append(BadLine(block.first + i, block.text(i), error.message))
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(list(values), field.type.arrow) for values, field in zip(columns, schema, strict=True)]
    return Chunk(pa.Table.from_arrays(arrays, schema=schema.arrow), np.array(lines, dtype=np.int64), bad)


def _at_once(block: Block, schema: Schema) -> Chunk:
    lines: Ints = np.flatnonzero(~block.blank)
    seen = sample(block)
    keys = [_key(field.name, seen, block.data) for field in schema]
    samples = ([o[key] for o in seen if o.get(key) is not None] for key in keys)
    expected = [_expected(field, values) for field, values in zip(schema, samples, strict=True)]
    table = arrow_json.read_json(
        pa.BufferReader(block.data),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block.data) + 1),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=pa.schema(dict(zip(keys, expected, strict=True)).items()),
            unexpected_field_behavior="ignore",
        ),
    )
    if table.num_rows != len(lines):  # an object over two lines, or two objects on one
        raise _MisfitError
    columns = [_typed(table.column(key).combine_chunks(), field) for key, field in zip(keys, schema, strict=True)]
    return Chunk(pa.Table.from_arrays(columns, schema=schema.arrow), block.first + lines, [])


def _key(name: str, seen: list[dict[str, Any]], data: bytes) -> str:
    """The key of a column in the objects: with dots or with underscores."""
    for found in seen:
        for key in found:
            if plain(key).casefold() == plain(name).casefold():
                return key
    parts = plain(name).split("_")
    for dots in product("_.", repeat=min(len(parts) - 1, 4)):
        key = parts[0] + "".join(dot + part for dot, part in zip(dots, parts[1:], strict=False))
        if f'"{key}"'.encode() in data:
            return key
    return name


def _expected(field: Field, values: list[Any]) -> pa.DataType:
    """The type that Arrow is to expect of a column, judged by a sample of its values."""
    first = values[0] if values else None
    match field.type:
        case DataType.TIMESTAMP:
            return pa.string() if isinstance(first, str) else pa.float64()
        case DataType.INTERVAL:
            return pa.float64()
        case DataType.STRING if isinstance(first, list):
            items = [item for value in values if isinstance(value, list) for item in value]
            return pa.list_(pa.float64() if items and isinstance(items[0], int | float) else pa.string())
        case _:
            return field.type.arrow


def _typed(column: pa.Array, field: Field) -> pa.Array:
    if pa.types.is_list(column.type):
        return _joined(column)
    if pa.types.is_string(column.type) and field.type is DataType.TIMESTAMP:
        return _iso(column)
    if field.type in (DataType.TIMESTAMP, DataType.INTERVAL):
        values, outside = from_seconds(column, field.type)
        if outside.any():
            raise _MisfitError
        return values
    if field.type is DataType.BIGINT and pc.any(pc.equal(column, NO_BIGINT)).as_py():
        raise _MisfitError
    return column


def _iso(texts: pa.Array) -> pa.Array:
    try:
        return texts.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("us"))  # without a zone


def _joined(lists: pa.Array) -> pa.Array:
    """Lists as texts: `a,b`."""
    if pa.types.is_floating(lists.type.value_type):
        items = lists.values.dictionary_encode()
        texts = pa.array([None if v is None else number_text(v) for v in items.dictionary.to_pylist()], pa.string())
        lists = pa.ListArray.from_arrays(lists.offsets, texts.take(items.indices), mask=lists.is_null())
    return pc.binary_join(lists, ",")
