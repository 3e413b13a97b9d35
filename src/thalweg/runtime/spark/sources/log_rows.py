"""Loads the rows of log files that `thalweg.formats` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.formats import FORMATS
from thalweg.formats.lines import LONGEST_LINE
from thalweg.runtime.spark.schema import to_arrow
from thalweg.runtime.spark.sources.bad_rows import BAD_ROW_COLUMNS, bad_batch, good_batches
from thalweg.runtime.spark.sources.files import NAME, NOTICE, SIZE, check_size


@dataclass(frozen=True)
class LogRows:
    """Loads the rows of log files; notices about files become bad rows."""

    schema: Schema
    format: str
    path: str
    longest_line: int = LONGEST_LINE

    def __post_init__(self) -> None:
        check_longest_line(self.longest_line)

    def __call__(self, described: pa.RecordBatch, columns: Sequence[str]) -> pa.Table:
        """All rows; whether a line is bad depends on all columns of the schema, not only on `columns`."""
        batches: list[pa.RecordBatch] = []
        for name, size, notice in described_files(described):
            batches += self._read(name, size) if notice is None else [bad_batch(self.schema, [name], [notice])]
        whole = pa.Table.from_batches(batches, to_arrow(self.schema + BAD_ROW_COLUMNS))
        return whole.select([*columns, *BAD_ROW_COLUMNS.names])

    def _read(self, name: str, size: int) -> Iterator[pa.RecordBatch]:
        """The rows of a file; lines that cannot be read become bad rows."""
        path = f"{self.path}/{name}"
        for table, _, bad in FORMATS[self.format](path, self.schema, longest_line=self.longest_line):
            yield from good_batches(self.schema, table)
            if bad:
                reasons = [f"{name}, line {line}: {reason}" for line, _, reason in bad]
                yield bad_batch(self.schema, [text for _, text, _ in bad], reasons)
        check_size(path, size)


def check_longest_line(longest_line: int) -> None:
    """Refuse a limit that no line meets."""
    if longest_line < 1:
        raise DataError(f"longest_line wants 1 byte or more, got {longest_line}")


def described_files(described: pa.RecordBatch) -> list[tuple[str, int, str | None]]:
    """The name, the size and the notice of each file that is described."""
    return list(zip(*(described.column(name).to_pylist() for name in (NAME, SIZE, NOTICE)), strict=True))
