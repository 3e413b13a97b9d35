"""LBL-CONN-7's lines; would catch flags that swallow a line, unknown values read as text, or a line that is lost."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.whole import whole
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.formats import read_lbl

TEXT = """\
748162802.427995 1.24383 smtp 2263 696 1 128.3.5.9 SF L
748162802.803033 ? nntp ? ? 4 9.9.9.9 REJ
  748162803.5   12  telnet 1 2   17\t5.5.5.5 SF  L N \r
"""


def test_lines_become_rows(tmp_path: Path) -> None:
    (tmp_path / "lbl").write_text(TEXT, newline="")
    table, lines, bad = whole(read_lbl(str(tmp_path / "lbl")))
    first, second = datetime(1993, 9, 16, 7, 0, 2, 427995), datetime(1993, 9, 16, 7, 0, 2, 803033)
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (first, 1.24383, "smtp", 2263, 696, "1", "128.3.5.9", "SF", "L"),
        (second, None, "nntp", None, None, "4", "9.9.9.9", "REJ", ""),
        (datetime(1993, 9, 16, 7, 0, 3, 500000), 12.0, "telnet", 1, 2, "17", "5.5.5.5", "SF", "L N"),
    ]
    assert (lines, bad) == ([1, 2, 3], [])


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "lbl").write_text(TEXT)
    schema = Schema.of(local_host=DataType.BIGINT, duration=DataType.INTERVAL)
    table, _, _ = whole(read_lbl(str(tmp_path / "lbl"), schema))
    assert table.column("local_host").to_pylist() == [1, 4, 17]
    with pytest.raises(DataError, match="has no column src") as caught:
        list(read_lbl(str(tmp_path / "lbl"), Schema.of(src=DataType.STRING)))
    assert "local_host" in caught.value.candidates


def test_bad_rows_are_kept_as_they_were_written(tmp_path: Path) -> None:
    misfits = ["748162802.4  1.2 smtp 1 1 1", "748162802.4 long  smtp 1 1 1 1 SF", "? ? ? ? ? ? ? ?"]
    (tmp_path / "lbl").write_text(misfits[0] + "\n\n" + TEXT + "\n".join(misfits[1:]))
    table, lines, bad = whole(read_lbl(str(tmp_path / "lbl")))
    assert table.column("ts").null_count == 1, "a line of unknowns is a line"
    assert lines == [3, 4, 5, 7]
    assert [tuple(b) for b in bad] == [
        (1, misfits[0], "expected 9 cells, got 6"),
        (6, misfits[1], "column duration wants DOUBLE, got 'long'"),
    ]


@given(lines=st.lists(st.sampled_from(TEXT.splitlines()), min_size=1, max_size=20), size=st.integers(1, 300))
def test_blocks_may_end_anywhere(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int) -> None:
    path = tmp_path_factory.mktemp("lbl") / "lbl"
    path.write_text("\n".join(lines))
    small, large = (whole(read_lbl(str(path), block_size=n)) for n in (size, 10_000))
    assert small[0].equals(large[0])
    assert small[1:] == large[1:] == (list(range(1, len(lines) + 1)), [])
