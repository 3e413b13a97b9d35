"""Would catch a file that is read twice or never, a list of files without end, and a change that nobody notices."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from thalweg.runtime.spark.sources.file_memory import FileId, FileMemory, step
from thalweg.runtime.spark.sources.files import FileReader, Files, _other_files, look


class Directory:
    """A directory that is looked at after each change, as Spark does; every offset passes through JSON."""

    def __init__(self, path: Path, remember: int = 1_000, limit: int | None = None) -> None:
        self.path, self.limit = path, limit
        self.reader = FileReader(str(path), "*", limit or 100, 2, remember=remember)
        self.offset: dict[str, Any] = self.reader.initialOffset()

    def look(self) -> tuple[list[str], dict[str, str]]:
        """The files of the next batch, and the notices."""
        limit = ReadAllAvailable() if self.limit is None else ReadMaxFiles(self.limit)
        end = json.loads(json.dumps(self.reader.latestOffset(self.offset, limit)))
        parts = [part for part in self.reader.partitions(self.offset, end) if isinstance(part, Files)]
        assert parts == [] or end != self.offset
        self.offset = end
        names = sorted(name for part in parts for name in part.files)
        return names, {name: notice for part in parts for name, notice in part.notices.items()}


def test_a_renamed_file_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("1")
    directory = Directory(tmp_path)
    assert directory.look() == (["a", "b"], {})
    (tmp_path / "a").rename(tmp_path / "z")
    (tmp_path / "c").write_text("1")
    assert directory.look() == (["c"], {"z": "the file was read as a and then renamed; it is not read again"})
    assert directory.look() == ([], {})
    (tmp_path / "z").rename(tmp_path / "a")
    assert directory.look() == ([], {"a": "the file was read as z and then renamed; it is not read again"})


def test_what_is_appended_is_noticed_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n")
    directory = Directory(tmp_path)
    directory.look()
    for _ in range(2):
        with (tmp_path / "a").open("a") as file:
            file.write("22\n")
        grown = "the file has grown by 3 bytes since it was read; what was appended is not read"
        assert directory.look() == ([], {"a": grown})
        assert directory.look() == ([], {})


def test_a_log_that_is_rotated_is_read_under_its_name_again(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("1\n")
    directory = Directory(tmp_path)
    directory.look()
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    (tmp_path / "a.log").write_text("2\n")
    new, notices = directory.look()
    assert (new, list(notices)) == (["a.log"], ["a.log.1"])


def test_a_file_that_is_replaced_or_cut_off_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("123")
    directory = Directory(tmp_path)
    directory.look()
    (tmp_path / "a").write_text("12")
    notice = "the file had 3 bytes when it was read, and now has 2; it is not read again"
    assert directory.look() == ([], {"a": notice})
    (tmp_path / ".b").write_text("xy")
    os.utime(tmp_path / ".b", ns=(1, 1))
    (tmp_path / ".b").rename(tmp_path / "a")
    new, notices = directory.look()
    assert (new, list(notices)) == ([], ["a"])


def test_a_touched_file_is_nothing_new(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    directory = Directory(tmp_path)
    directory.look()
    os.utime(tmp_path / "a", ns=(5, 5))
    assert directory.look() == ([], {})


def test_a_copy_and_a_file_with_an_old_date_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    directory = Directory(tmp_path)
    directory.look()
    os.link(tmp_path / "a", tmp_path / "b")  # the same file under two names: the user wants it twice
    (tmp_path / ".c").write_text("1")
    os.utime(tmp_path / ".c", ns=(1, 1))
    (tmp_path / ".c").rename(tmp_path / "c")
    assert directory.look() == (["b", "c"], {})


@pytest.mark.parametrize("keep", [True, False])
def test_the_memory_is_bounded_and_every_file_is_read_once(tmp_path: Path, keep: bool) -> None:
    directory, read = Directory(tmp_path, remember=20, limit=7), list[str]()
    for i in range(200):
        (tmp_path / f"{i:03}").write_text("x" * (i % 3))
        os.utime(tmp_path / f"{i:03}", ns=(10**9 * (1000 + i), 10**9 * (1000 + i)))
        if i % 5 == 0:
            read += directory.look()[0]
        if not keep and i >= 100:
            (tmp_path / f"{i - 100:03}").unlink(missing_ok=True)
    while new := directory.look()[0]:
        read += new
    assert read == [f"{i:03}" for i in range(200)]
    assert len(directory.offset["files"]) == 20


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 50)), max_size=60), st.integers(1, 4), st.integers(3, 10))
def test_files_that_come_in_any_order_of_dates_are_never_read_twice(
    moved: list[tuple[int, int]], limit: int, remember: int
) -> None:
    """Without renames each name is new at most once; if the memory holds the directory, exactly once."""
    there: dict[str, FileId] = {}
    memory, read = FileMemory(), list[str]()
    for number, (date, _) in enumerate(moved):
        there[f"f{number}"] = FileId(1, date, number + 1)
        after = memory.after(there, limit, remember)
        read += step(memory, after).new
        memory = after
    while True:
        after = memory.after(there, limit, remember)
        if not (new := step(memory, after).new):
            break
        read += new
        memory = after
    assert len(read) == len(set(read))
    assert len(memory.files) <= remember
    if len(there) <= remember:
        assert sorted(read) == sorted(there)


def test_files_are_listed_alike_on_every_file_system(tmp_path: Path) -> None:
    for name in ("a.log", "b.txt", ".c.log", "_d.log", "sub/e.log", "sub/.f.log", ".hidden/g.log", "sub/sub/h.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    for recursive, names in ((False, {"a.log"}), (True, {"a.log", "sub/e.log", "sub/sub/h.log"})):
        mine = look(str(tmp_path), "*.log", recursive)
        other = dict(_other_files(pa.fs.LocalFileSystem(), str(tmp_path), "*.log", recursive))
        assert set(mine) == set(other) == names
        assert {n: id_[:2] for n, id_ in mine.items()} == {n: id_[:2] for n, id_ in other.items()}
        assert all(id_.inode for id_ in mine.values()) and not any(id_.inode for id_ in other.values())


def test_without_inodes_nothing_is_taken_for_renamed() -> None:
    memory = FileMemory({"a": FileId(1, 5)})
    after = memory.after({"b": FileId(1, 5)}, None)
    assert step(memory, after) == ({"b": FileId(1, 5)}, {})
    grown = memory.after({"a": FileId(2, 6)}, None)
    assert list(step(memory, grown).notices) == ["a"]
