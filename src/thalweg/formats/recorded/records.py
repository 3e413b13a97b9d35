"""The input files that a path, folder or glob stands for, and the file formats, each as an iterator of records.

A record holds the wanted columns in order, or the error of a bad row: a bad row must not end the file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from thalweg.core.errors import DataError, did_you_mean
from thalweg.core.rows import Row
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats import FORMATS
from thalweg.formats.recorded.cells import read_plain, read_text
from thalweg.formats.recorded.text_lines import TextLines


class Wanted(NamedTuple):
    """A column to read from a file; an optional column that the file lacks reads as NULL."""

    field: Field
    optional: bool = False


class Record(NamedTuple):
    """A row of a file: its place, and its values or the reason why it has none."""

    where: str
    values: Row | DataError


def read_records(path: Path, wanted: Sequence[Wanted]) -> Iterator[Record]:
    """The rows of a file; the ending of its name determines the format."""
    reader = READERS.get(ending(path))
    if reader is None:
        raise DataError(f"{path}: cannot tell the format from the name", candidates=READERS)
    try:
        yield from reader(path, wanted)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error, pa.ArrowException) as error:
        raise DataError(f"cannot read {path}: {error}") from None


def ending(path: Path) -> str:
    """The ending of a file's name, which names its format: `.csv`, `.log.gz`."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]).lower()


def _read_csv(path: Path, wanted: Sequence[Wanted]) -> Iterator[Record]:
    with TextLines(path) as lines:
        rows = csv.reader(lines)
        header = next(rows, None)
        for _, error in lines.bad():
            raise DataError(f"cannot read {error.message}", hint="the first line must name the columns")
        if header is None:
            raise DataError(f"{path} is empty", hint="its first line must name the columns")
        places = _places(path, [name.strip() for name in header], wanted)
        for cells in rows:
            yield from (Record(where, error) for where, error in lines.bad())
            if cells:  # an empty line is no row
                where = f"{path}, line {rows.line_num}"
                yield Record(where, _csv_row(cells, len(header), places, wanted, where))


def _csv_row(
    cells: list[str], width: int, places: list[int | None], wanted: Sequence[Wanted], where: str
) -> Row | DataError:
    if len(cells) != width:
        return DataError(f"{where}: expected {width} cells as in the header, got {len(cells)}")
    try:
        pairs = zip(places, wanted, strict=True)
        return tuple(None if i is None else read_text(w.field, cells[i], where) for i, w in pairs)
    except DataError as error:
        return error


def _read_json_lines(path: Path, wanted: Sequence[Wanted]) -> Iterator[Record]:
    with TextLines(path) as lines:
        for number, line in enumerate(lines, start=1):
            yield from (Record(where, error) for where, error in lines.bad())
            if line.strip():
                where = f"{path}, line {number}"
                yield Record(where, _json_row(line, wanted, where))


def _json_row(line: str, wanted: Sequence[Wanted], where: str) -> Row | DataError:
    try:
        values = json.loads(line)
    except ValueError as error:
        return DataError(f"{where}: this is not JSON: {error}")
    if not isinstance(values, dict):
        return DataError(f"{where}: expected a JSON object, got {line.strip()[:40]}")
    by_name = {name.casefold(): value for name, value in values.items()}
    try:
        return tuple(read_plain(w.field, by_name.get(w.field.name.casefold()), where) for w in wanted)
    except DataError as error:
        return error


def _read_parquet(path: Path, wanted: Sequence[Wanted]) -> Iterator[Record]:
    number = 0
    with pq.ParquetFile(path) as file:
        places = _places(path, file.schema_arrow.names, wanted)
        for batch in file.iter_batches():
            columns = [_arrow_column(path, batch, i, w.field) for i, w in zip(places, wanted, strict=True)]
            for values in zip(*columns, strict=True):
                number += 1
                where = f"{path}, row {number}"
                fields = (w.field for w in wanted)
                row = tuple(read_plain(f, v, where) for f, v in zip(fields, values, strict=True))
                yield Record(where, row)


def _read_log(format_: str) -> Callable[[Path, Sequence[Wanted]], Iterator[Record]]:
    """A reader for a format of `thalweg.formats`; bad lines become errors."""

    def read(path: Path, wanted: Sequence[Wanted]) -> Iterator[Record]:
        there = [w.field for w in wanted if not w.optional]  # logs feed streams, so they have neither _at nor _op
        for chunk in FORMATS[format_](str(path), Schema(tuple(there))):
            for line, _, reason in chunk.bad:
                yield Record(f"{path}, line {line}", DataError(f"{path}, line {line}: {reason}"))
            columns = [chunk.table.column(i).to_pylist() for i in range(len(there))]
            for line, values in zip(chunk.lines.tolist(), zip(*columns, strict=True), strict=True):
                where = f"{path}, line {line}"
                row = tuple(read_plain(f, v, where) for f, v in zip(there, values, strict=True))
                yield Record(where, row + (None,) * (len(wanted) - len(there)))

    return read


def _arrow_column(path: Path, batch: pa.RecordBatch, place: int | None, field: Field) -> list[object]:
    if place is None:
        return [None] * batch.num_rows
    column = batch.column(place)
    given = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_null(given) and not any(fits(given) for fits in _ARROW_TYPES[field.type]):
        raise DataError(f"{path}: column {field.name} wants {field.type}, the file has {column.type}")
    # Nanoseconds are cut off and a DOUBLE is rounded; an integer must fit.
    column = column.cast(field.type.arrow, safe=field.type is DataType.BIGINT)
    values: list[object] = column.to_pylist()
    return values


def _places(path: Path, names: Sequence[str], wanted: Sequence[Wanted]) -> list[int | None]:
    """The place of each wanted column in the file, by name; case does not matter."""
    by_name = {name.casefold(): i for i, name in reversed(list(enumerate(names)))}
    for column, optional in wanted:
        if not optional and column.name.casefold() not in by_name:
            raise DataError(
                f"{path} has no column {column.name}", candidates=names, hint=did_you_mean(column.name, names)
            )
    return [by_name.get(w.field.name.casefold()) for w in wanted]


READERS: dict[str, Callable[[Path, Sequence[Wanted]], Iterator[Record]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": _read_parquet,
    ".log": _read_log("zeek"),
    ".log.gz": _read_log("zeek"),
    ".lbl": _read_log("lbl"),
    ".lbl.gz": _read_log("lbl"),
}

_is = pa.types
_ARROW_TYPES: dict[DataType, tuple[Callable[[pa.DataType], bool], ...]] = {
    DataType.BOOLEAN: (_is.is_boolean,),
    DataType.BIGINT: (_is.is_integer,),
    DataType.DOUBLE: (_is.is_floating, _is.is_integer, _is.is_decimal),
    DataType.STRING: (_is.is_string, _is.is_large_string, _is.is_string_view),
    DataType.TIMESTAMP: (_is.is_timestamp, _is.is_date),
    DataType.INTERVAL: (_is.is_duration,),
}


def find_files(pattern: str) -> list[Path]:
    """A file by its name, all files of a known format in a folder, or all files of a glob; sorted by name."""
    path = Path(pattern)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if ending(file) in READERS)
        if not found:
            raise DataError(f"the folder {pattern} has no input file", candidates=[f"*{end}" for end in READERS])
        return found
    if path.exists():
        return [path]
    try:
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    except ValueError as error:
        raise DataError(f"{pattern} is no glob: {error}") from None
    files = [file for file in found if file.is_file()]
    if not files:
        raise no_such_file(path)
    return files


def no_such_file(path: Path) -> DataError:
    """The error for a missing file; it suggests a file with a similar name."""
    siblings = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return DataError(f"there is no file {path}", hint=did_you_mean(path.name, siblings))
