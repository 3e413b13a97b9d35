"""Files of CSV or JSON lines as a DataFrame of their lines; lines that cannot be parsed at all carry the reason.

Python cuts files into lines, so that a line that is too long or no UTF-8 becomes a bad row with a visible text; Spark
parses the lines, so that types are read as everywhere in Spark.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.formats.lines import Block, read_blocks, sift
from thalweg.formats.zeek_json import sample
from thalweg.runtime.spark.sources.files import check_size
from thalweg.runtime.spark.sources.log_rows import check_longest_line, described_files

LINE, PLACE, REASON = "_line", "_place", "_line_reason"
LINES = f"{LINE} STRING, {PLACE} STRING, {REASON} STRING"
_ARROW = pa.schema([(LINE, pa.string()), (PLACE, pa.string()), (REASON, pa.string())])
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINES_TO_CHECK = 1_000  # of each JSON file, from its start


@dataclass(frozen=True)
class TextFiles:
    """The function for `mapInArrow` over descriptions of files."""

    path: str
    schema: Schema
    format: str  # csv or json
    longest_line: int

    def __post_init__(self) -> None:
        check_longest_line(self.longest_line)

    def __call__(self, described: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The lines of all files, and a line with a reason for each problem with a file."""
        for batch in described:
            for name, size, notice in described_files(batch):
                if notice is None:
                    yield from self._lines(name, size)
                else:
                    yield _bad([f"{self.path}/{name}"], name, [notice])

    def _lines(self, name: str, size: int) -> Iterator[pa.RecordBatch]:
        path = f"{self.path}/{name}"
        for block in read_blocks(path, longest=self.longest_line):
            sifted, bad = sift(_without_mark(block))
            if block.first == 1:
                if self.format == "csv":
                    sifted = self._without_header(sifted, name)
                elif absent := self._absent(sifted):
                    yield _bad([path], name, [f"the file has no column {', '.join(absent)}"])
            if bad:
                yield _bad([b.text for b in bad], name, [f"{name}, line {b.line}: {b.reason}" for b in bad])
            yield _good(sifted, name)
        check_size(path, size)

    def _without_header(self, block: Block, name: str) -> Block:
        """The block after its first line, which must name the columns of the schema in their order."""
        found = next(csv.reader([block.text(0)]), [])
        if [column.strip().casefold() for column in found] != [column.casefold() for column in self.schema.names]:
            raise DataError(
                f"the header of {name} names the columns {', '.join(found) or '(none)'}",
                candidates=self.schema.names,
                hint="a CSV file has the columns of the schema, in its order",
            )
        return block.cut(1, len(block.ends))

    def _absent(self, block: Block) -> list[str]:
        """The columns that no object on the first lines has; none if no line is an object."""
        seen = sample(block, LINES_TO_CHECK)
        names = {key.casefold() for found in seen for key in found}
        return [column for column in self.schema.names if seen and column.casefold() not in names]


def _without_mark(block: Block) -> Block:
    if block.first != 1 or not block.data.startswith(_BYTE_ORDER_MARK):
        return block
    return Block(block.data.removeprefix(_BYTE_ORDER_MARK), block.first, block.bad)


def _good(block: Block, name: str) -> pa.RecordBatch:
    """The lines of a block that are not blank."""
    if not block.data:
        return pa.RecordBatch.from_pylist([], schema=_ARROW)
    offsets = np.concatenate(([0], block.ends + 1)).astype(np.int32)
    texts = pa.Array.from_buffers(
        pa.string(), len(block.ends), [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(block.data)]
    )
    texts = pc.utf8_rtrim(texts, "\r\n")
    full = pc.not_equal(pc.utf8_trim_whitespace(texts), "")
    numbers = pa.array(block.first + np.arange(len(block.ends))).cast(pa.string())
    places = pc.binary_join_element_wise(name, numbers, ", line ")
    batch = pa.RecordBatch.from_arrays([texts, places, pa.nulls(len(texts), pa.string())], schema=_ARROW)
    return batch.filter(full)


def _bad(texts: list[str], name: str, reasons: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(texts), pa.array([name] * len(texts)), pa.array(reasons)], schema=_ARROW
    )
