"""Blocks of lines whose cells are separated by one character, without quotes: from text to a typed table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import csv

from thalweg.core.lanes import Flags, Ints
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats.cells import read_texts
from thalweg.formats.lines import BadLine, Block, Chunk, sift

Repair = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class CellLayout:
    """How to cut lines: the number of cells, the separator, the text of an unknown value, a function for strings."""

    width: int
    separator: str
    unset: str
    repair: Repair = lambda texts: texts


def read_block(block: Block, layout: CellLayout, schema: Schema, places: Sequence[int]) -> Chunk:
    """The rows of a block; column i of `schema` is cell `places[i]` of a line."""
    block, bad = sift(block)
    if not block.data:
        return Chunk(schema.arrow.empty_table(), np.empty(0, dtype=np.int64), bad)
    texts, kept = _cells(block, layout, places, bad)
    columns, unread = [], np.zeros(texts.num_rows, dtype=np.bool_)
    for place, field in zip(places, schema, strict=True):
        cells = texts.column(str(place)).combine_chunks()
        values, wrong = read_texts(layout.repair(cells) if field.type is DataType.STRING else cells, field.type)
        columns.append(values)
        if (wrong & ~unread).any():
            bad += _complaints(block, kept, cells, field, wrong & ~unread)
            unread |= wrong
    table = pa.Table.from_arrays(columns, schema=schema.arrow)
    lines = block.first + kept
    if unread.any():
        table, lines = table.filter(pa.array(~unread)), lines[~unread]
    return Chunk(table, lines, sorted(bad))


def _cells(block: Block, layout: CellLayout, places: Sequence[int], bad: list[BadLine]) -> tuple[pa.Table, Ints]:
    """The wanted cells as text, and which lines of the block they are from."""
    misfits: list[int] = []

    def note(row: csv.InvalidRow) -> str:
        misfits.append(row.number - 1)
        message = f"expected {row.expected_columns} cells, got {row.actual_columns}"
        bad.append(BadLine(block.first + row.number - 1, block.text(row.number - 1), message))
        return "skip"

    names = [str(i) for i in range(layout.width)]
    wanted = sorted({str(place) for place in places})
    table = csv.read_csv(
        pa.BufferReader(block.data),
        # Arrow numbers the rows only if it reads them as one block in one thread.
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block.data) + 1),
        parse_options=csv.ParseOptions(
            delimiter=layout.separator, quote_char=False, ignore_empty_lines=False, invalid_row_handler=note
        ),
        convert_options=csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.string()),
            null_values=[layout.unset],
            strings_can_be_null=True,
        ),
    )
    kept = np.delete(np.arange(len(block.ends)), misfits)
    full = ~block.blank[kept]
    if not full.all():
        table, kept = table.filter(pa.array(full)), kept[full]
    return table, kept


def _complaints(block: Block, kept: Ints, cells: pa.Array, field: Field, wrong: Flags) -> list[BadLine]:
    return [
        BadLine(
            block.first + int(kept[i]),
            block.text(int(kept[i])),
            f"column {field.name} wants {field.type}, got {cells[int(i)].as_py()!r}",
        )
        for i in np.flatnonzero(wrong)
    ]
