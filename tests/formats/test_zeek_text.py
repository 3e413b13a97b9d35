"""Zeek's text logs; would catch a line lost or counted wrongly, a cell misread, a second header overlooked."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.whole import whole
from thalweg.core.errors import DataError
from thalweg.core.schema import Field, Schema
from thalweg.core.types import DataType
from thalweg.formats import read_zeek, zeek_schema

HEADER = """\
#separator \\x09
#set_separator\t,
#empty_field\t(empty)
#unset_field\t-
#path\tconn
#open\t2024-04-19-00-00-00
#fields\tts\tuid\tid.orig_h\tid.orig_p\tduration\torig_bytes\tlocal_orig\ttunnel_parents
#types\ttime\tstring\taddr\tport\tinterval\tcount\tbool\tset[string]
"""
ROWS = """\
1713484784.962686\tCh2e\t172.70.38.138\t21052\t65.022705\t364\tF\t-
1713484785.000001\tC\\x09x\t::1\t80\t-\t-\tT\t(empty)
1713484786\t-\t10.0.0.1\t0\t0.000001\t0\t-\tCa,Cb
"""
CLOSE = "#close\t2024-04-19-01-00-00\n"
TYPES = {
    "ts": DataType.TIMESTAMP,
    "uid": DataType.STRING,
    "id_orig_h": DataType.STRING,
    "id_orig_p": DataType.BIGINT,
    "duration": DataType.DOUBLE,
    "orig_bytes": DataType.BIGINT,
    "local_orig": DataType.BOOLEAN,
    "tunnel_parents": DataType.STRING,
}
FOUND = [
    (datetime(2024, 4, 18, 23, 59, 44, 962686), "Ch2e", "172.70.38.138", 21052, 65.022705, 364, False, None),
    (datetime(2024, 4, 18, 23, 59, 45, 1), "C\tx", "::1", 80, None, None, True, ""),
    (datetime(2024, 4, 18, 23, 59, 46), None, "10.0.0.1", 0, 0.000001, 0, None, "Ca,Cb"),
]


def log(tmp_path: Path, text: str, name: str = "conn.log") -> str:
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(tmp_path / name)


@pytest.mark.parametrize("name", ["conn.log", "conn.00:00:00-01:00:00.log.gz"])
def test_rows_have_their_types(tmp_path: Path, name: str) -> None:
    path = log(tmp_path, HEADER + ROWS + CLOSE, name)
    table, lines, bad = whole(read_zeek(path))
    assert zeek_schema(path) == Schema.of(**TYPES)
    assert table.schema == Schema.of(**TYPES).arrow
    assert [tuple(row.values()) for row in table.to_pylist()] == FOUND
    assert (lines, bad) == ([9, 10, 11], [])


def test_the_end_of_a_line_and_of_the_file_may_be_otherwise(tmp_path: Path) -> None:
    text = (HEADER + "\n" + ROWS).replace("\n", "\r\n").rstrip()
    table, lines, bad = whole(read_zeek(log(tmp_path, text)))
    assert [tuple(row.values()) for row in table.to_pylist()] == FOUND
    assert (lines, bad) == ([10, 11, 12], [])


def test_some_columns_in_another_order_and_with_other_types(tmp_path: Path) -> None:
    schema = Schema(
        (
            Field("duration", DataType.INTERVAL),
            Field("ID.orig_h", DataType.STRING),
            Field("ts", DataType.DOUBLE),
            Field("id_orig_p", DataType.STRING),
        )
    )
    table, _, bad = whole(read_zeek(log(tmp_path, HEADER + ROWS), schema))
    assert table.slice(0, 2).to_pylist() == [
        {
            "duration": timedelta(seconds=65, microseconds=22705),
            "ID.orig_h": "172.70.38.138",
            "ts": 1713484784.962686,
            "id_orig_p": "21052",
        },
        {"duration": None, "ID.orig_h": "::1", "ts": 1713484785.000001, "id_orig_p": "80"},
    ]
    assert not bad


def test_bad_rows_are_kept_with_their_place_and_reason(tmp_path: Path) -> None:
    misfits = [
        "1713484784.5\tC1\t10.0.0.1\t80\t1.0\t1\tF",
        "1713484784.5\tC1\t10.0.0.1\t80\t1.0\tmany\tF\t-",
        "1713484784.5\tC1\t10.0.0.1\teighty\t1.0\tmany\tF\t-",
        "yesterday\tC1\t10.0.0.1\t80\t1.0\t1\tF\t-",
        "1713484784.5\tC1\t10.0.0.1\t80\t1.0\t1\tX\t-",
        "1e300\tC1\t10.0.0.1\t80\t1.0\t1\tF\t-",
        "1713484784.5\tC1\t10.0.0.1\t80\t1.0\t99999999999999999999\tF\t-",
        "1713484784.5\tC\r1\t10.0.0.1\t80\t1.0\t1\tF\t-",
    ]
    first, *rest = ROWS.splitlines(keepends=True)
    table, lines, bad = whole(read_zeek(log(tmp_path, HEADER + first + "\n".join(misfits) + "\n\n" + "".join(rest))))
    assert [tuple(row.values()) for row in table.to_pylist()] == FOUND
    assert lines == [9, 19, 20]
    assert [(b.line, b.text) for b in bad] == [(10 + i, text) for i, text in enumerate(misfits)]
    assert [b.reason for b in bad] == [
        "expected 8 cells, got 7",
        "column orig_bytes wants BIGINT, got 'many'",
        "column id_orig_p wants BIGINT, got 'eighty'",
        "column ts wants TIMESTAMP, got 'yesterday'",
        "column local_orig wants BOOLEAN, got 'X'",
        "column ts wants TIMESTAMP, got '1e300'",
        "column orig_bytes wants BIGINT, got '99999999999999999999'",
        "there is a carriage return inside the line",
    ]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "conn.log"
    row = ROWS.splitlines()[0].encode()
    path.write_bytes(HEADER.encode() + row.replace(b"Ch2e", b"C\xff") + b"\n" + row.replace(b"Ch2e", b"C\\xff") + b"\n")
    table, lines, (bad,) = whole(read_zeek(str(path)))
    assert (bad.line, bad.reason) == (9, "this is not UTF-8")
    assert "C\\xff" in bad.text
    assert (table.column("uid").to_pylist(), lines) == (["C\\xff"], [10]), "an escape that is no text stays as it is"


def test_a_second_header_changes_the_columns(tmp_path: Path) -> None:
    other = "#unset_field\t?\n#fields\tid.orig_h\tnew\tts\n#types\taddr\tstring\ttime\n10.0.0.9\t-\t1713484790\n"
    schema = Schema.of(ts=DataType.TIMESTAMP, id_orig_h=DataType.STRING)
    table, lines, _ = whole(read_zeek(log(tmp_path, HEADER + ROWS + CLOSE + other), schema))
    assert table.column("id_orig_h").to_pylist() == ["172.70.38.138", "::1", "10.0.0.1", "10.0.0.9"]
    assert lines == [9, 10, 11, 16]


@pytest.mark.parametrize(
    ("text", "schema", "message"),
    [
        (HEADER + ROWS, Schema.of(bytes=DataType.BIGINT), "has no column bytes"),
        (HEADER + ROWS, Schema.of(ts=DataType.BIGINT), "column ts wants BIGINT, the file has time"),
        ("#path\tconn\n1\t2\n", None, "line 2: there is a row before any #fields line"),
        (HEADER.replace("\tbool", "") + ROWS, None, "line 9: #types and #fields differ in length"),
        ("ts,uid\n1,2\n", None, "is no Zeek log: it begins with neither # nor {"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused(
    tmp_path: Path, text: str, schema: Schema | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        list(read_zeek(log(tmp_path, text), schema))


def test_a_file_that_is_cut_off_or_not_there_is_refused(tmp_path: Path) -> None:
    path = log(tmp_path, HEADER + ROWS * 1000, "conn.log.gz")
    Path(path).write_bytes(Path(path).read_bytes()[:-100])
    with pytest.raises(DataError, match=r"cannot read .*conn\.log\.gz"):
        list(read_zeek(path))
    with pytest.raises(DataError, match=r"cannot read .*none\.log"):
        list(read_zeek(str(tmp_path / "none.log")))


def test_a_file_of_several_gzip_members_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "conn.log.gz"
    path.write_bytes(gzip.compress(HEADER.encode()) + gzip.compress(ROWS.encode()) + gzip.compress(ROWS.encode()))
    assert whole(read_zeek(str(path)))[1] == [9, 10, 11, 12, 13, 14]


@given(
    kinds=st.lists(st.sampled_from(["good", "short", "type", "blank", "header", "bytes"]), max_size=30),
    size=st.integers(20, 500),
)
def test_no_line_is_lost_wherever_blocks_end(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], size: int
) -> None:
    lines = {
        "good": "17{:08d}\tC\t::1\t1\t-\t-\t-\t-".format,
        "short": "17{:08d}\tC".format,
        "type": "17{:08d}\tC\t::1\tx\t-\t-\t-\t-".format,
        "blank": "".format,
        "header": "#close\t{}".format,
        "bytes": "17{:08d}\t\udcff\t::1\t1\t-\t-\t-\t-".format,
    }
    numbered = list(enumerate(kinds, start=9))
    text = HEADER + "".join(lines[kind](i) + "\n" for i, kind in numbered)
    path = tmp_path_factory.mktemp("zeek") / "conn.log"
    path.write_bytes(text.encode(errors="surrogateescape"))
    chunks = list(read_zeek(str(path), block_size=size))
    assert [i for c in chunks for i in c.lines] == [i for i, kind in numbered if kind == "good"]
    assert [b.line for c in chunks for b in c.bad] == [i for i, kind in numbered if kind in ("short", "type", "bytes")]
    seconds = [t.timestamp() for c in chunks for t in c.table.column("ts").to_pylist()]
    assert len(seconds) == kinds.count("good")
