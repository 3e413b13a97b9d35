"""The text of LBL-CONN-7: one connection per line, with blanks between its cells.

    timestamp duration protocol bytes-by-originator bytes-by-responder local-host remote-host state flags

`?` is unknown. Flags are zero or more, so a line may end with its state; then flags is the empty string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.formats.delimited import CellLayout, read_block
from thalweg.formats.lines import BLOCK, LONGEST_LINE, Block, Chunk, read_blocks
from thalweg.formats.names import places_of

SCHEMA = Schema.of(
    ts=DataType.TIMESTAMP,
    duration=DataType.DOUBLE,
    protocol=DataType.STRING,
    bytes_orig=DataType.BIGINT,
    bytes_resp=DataType.BIGINT,
    local_host=DataType.STRING,
    remote_host=DataType.STRING,
    state=DataType.STRING,
    flags=DataType.STRING,
)
_LAYOUT = CellLayout(len(SCHEMA), "\t", "?")
_BLANKS = re.compile(rb"[ \t]+")
_EDGES = re.compile(rb"^ | (?=\r?$)", re.MULTILINE)


def read_lbl(
    path: str, schema: Schema = SCHEMA, block_size: int = BLOCK, longest_line: int = LONGEST_LINE
) -> Iterator[Chunk]:
    """The connections of a file, chunk by chunk; `schema` selects columns of SCHEMA, and may give other types."""
    places = places_of(path, schema, SCHEMA.names)
    for block in read_blocks(path, block_size, longest_line):
        table, lines, bad = read_block(_tabbed(block), _LAYOUT, schema, places)
        untouched = [b._replace(text=block.text(b.line - block.first)) for b in bad]
        yield Chunk(table, lines, sorted([*untouched, *block.bad]))


def _tabbed(block: Block) -> Block:
    """The block with tabs between its nine cells; the text after the eighth cell is the flags, perhaps empty."""
    data = block.data
    if b"  " in data or b"\t" in data or b" \n" in data or b"\n " in data or data[:1] == b" ":
        data = _EDGES.sub(b"", _BLANKS.sub(b" ", data))
    tidy = Block(data, block.first)
    letters = np.frombuffer(data, dtype=np.uint8).copy()
    blanks = np.flatnonzero(letters == ord(" "))
    before = np.searchsorted(blanks, tidy.starts)  # blanks before each line
    count = np.searchsorted(blanks, tidy.ends) - before
    ordinal = np.arange(len(blanks)) - np.repeat(before, count)
    letters[blanks[ordinal < len(SCHEMA) - 1]] = ord("\t")
    bare = tidy.ends[count == len(SCHEMA) - 2]
    bare = bare - (letters[bare - 1] == ord("\r"))
    return Block(np.insert(letters, bare, ord("\t")).tobytes(), block.first)
