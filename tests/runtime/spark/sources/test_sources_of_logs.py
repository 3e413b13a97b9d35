"""Directories of Zeek and LBL logs on Spark; would catch a file read twice or never, or a bad line that vanishes."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from runtime.spark.sources.batches import Sink
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.runtime.spark.sources import BAD_ROW_COLUMNS, lbl, split_bad_rows, zeek
from thalweg.runtime.spark.sources.files import FileReader, Files
from thalweg.runtime.spark.sources.log_rows import LogRows

CONN = Schema.of(ts=DataType.TIMESTAMP, id_orig_h=DataType.STRING, orig_bytes=DataType.BIGINT)
HEADER = "#fields\tts\tid.orig_h\torig_bytes\n#types\ttime\taddr\tcount\n"


def test_new_zeek_files_are_read_once_through_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "conn.1.log").write_text(HEADER + "1.5\t::1\t10\n2\t::2\tmany\n3\t::3\t-\n#close\n")
    (logs / ".conn.2.log").write_text("unfinished")
    (logs / "notes.txt").write_text("not a log")
    sink = Sink(tmp_path / "checkpoint").run(zeek(spark, logs, CONN).dataframe())
    assert [tuple(row.values()) for row in sink.rows] == [
        (datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=UTC), "::1", 10, None, None),
        (datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC), "::3", None, None, None),
        (None, None, None, "2\t::2\tmany", "conn.1.log, line 4: column orig_bytes wants BIGINT, got 'many'"),
    ]
    (logs / "conn.2.log.gz").write_bytes(gzip.compress(b'{"ts": 4, "id.orig_h": "::4"}\n'))
    (logs / "conn.3.log").write_text(HEADER + "5\t::5\t1\n")
    stream = zeek(spark, str(logs), CONN, files_per_batch=1).dataframe()
    with pytest.raises(StreamingQueryException, match="the sink fails"):
        sink.run(stream, fail_at=2)
    sink.run(stream)
    assert [[row["id_orig_h"] for row in batch] for batch in sink.batches[1:]] == [["::4"], ["::5"]]


def test_lbl_files_and_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a").write_text("1 0.5 ftp 5 ? 3 9.9.9.9 SF L\noops\n")
    (logs / "b.gz").write_bytes(gzip.compress(b"2 ? smtp 5 7 3 9.9.9.9 REJ\n"))
    schema = Schema.of(ts=DataType.TIMESTAMP, protocol=DataType.STRING, bytes_resp=DataType.BIGINT)
    found = Sink(tmp_path / "checkpoint").run(lbl(spark, logs, schema).dataframe()).rows
    read = spark.createDataFrame(pa.Table.from_pylist(found))
    good, bad = split_bad_rows(read, schema)
    assert (tuple(good.columns), tuple(bad.columns)) == (schema.names, BAD_ROW_COLUMNS.names)
    assert sorted((row.protocol, row.bytes_resp) for row in good.collect()) == [("ftp", None), ("smtp", 7)]
    assert [tuple(row) for row in bad.collect()] == [("oops", "a, line 2: expected 9 cells, got 1")]


def reader(path: Path) -> FileReader:
    return FileReader(str(path), "*", 2, 3)


def test_files_are_dealt_out_without_spark(tmp_path: Path) -> None:
    for i in range(5):
        (tmp_path / f"{i}.log").write_text("x" * i)
    dealt = reader(tmp_path)
    start = dealt.initialOffset()
    two = dealt.latestOffset(start, dealt.getDefaultReadLimit())
    assert len(two["files"]) == 2
    dealt.prepareForTriggerAvailableNow()
    (tmp_path / "late.log").write_text("")
    every = dealt.latestOffset(two, ReadAllAvailable())
    assert set(every["files"]) == {f"{i}.log" for i in range(5)}
    assert dealt.latestOffset(every, ReadMaxFiles(1)) == every
    parts = dealt.partitions(two, every)
    assert len(parts) == 3
    found = {name: size for part in parts if isinstance(part, Files) for name, size in part.files.items()}
    assert found == {name: size for name, (size, *_) in every["files"].items() if name not in two["files"]}
    assert dealt.partitions(every, every) == []
    assert "late.log" in reader(tmp_path).latestOffset(every, ReadMaxFiles(1))["files"]


def rows(path: Path, size: int) -> pa.Table:
    (described,) = reader(path).read(Files({"a.log": size}))
    return LogRows(CONN, "zeek", str(path))(described, CONN.names)


def test_a_file_that_changes_before_it_is_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(HEADER + "1\t::1\t1\n")
    size = (tmp_path / "a.log").stat().st_size
    assert rows(tmp_path, size).num_rows == 1
    complaint = f"the file a.log had {size - 1} bytes when it was listed, and now has {size}"
    with pytest.raises(DataError, match=complaint):
        rows(tmp_path, size - 1)


def test_mistakes_are_reported_at_once(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no directory"):
        zeek(spark, tmp_path / "none", CONN)
    with pytest.raises(DataError, match="files_per_batch wants 1 or more"):
        zeek(spark, tmp_path, CONN, files_per_batch=0)
