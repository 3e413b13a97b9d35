"""Zeek's JSON logs; would catch a fast path that reads otherwise than the slow one, or a misfit taking others along."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.whole import whole
from thalweg.core.errors import DataError
from thalweg.core.schema import Schema
from thalweg.core.types import DataType
from thalweg.formats import read_zeek, zeek_schema
from thalweg.formats.lines import read_blocks
from thalweg.formats.zeek_json import read_json_blocks

SCHEMA = Schema.of(
    ts=DataType.TIMESTAMP,
    id_orig_h=DataType.STRING,
    rtt=DataType.DOUBLE,
    n=DataType.BIGINT,
    ok=DataType.BOOLEAN,
    answers=DataType.STRING,
    TTLs=DataType.STRING,
)
FULL = {
    "ts": 1713484784.962686,
    "id.orig_h": "10.0.0.1",
    "rtt": 0.5,
    "n": 7,
    "ok": True,
    "answers": ["a", "b"],
    "TTLs": [1.5, 2230.0],
    "more": {"x": 1},
}
READ = {
    "ts": datetime(2024, 4, 18, 23, 59, 44, 962686),
    "id_orig_h": "10.0.0.1",
    "rtt": 0.5,
    "n": 7,
    "ok": True,
    "answers": "a,b",
    "TTLs": "1.5,2230",
}


def log(tmp_path: Path, lines: list[Any]) -> str:
    path = tmp_path / "dns.log"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


@pytest.mark.parametrize("copies", [1, 100])
def test_rows_have_their_types(tmp_path: Path, copies: int) -> None:
    path = log(tmp_path, [FULL, {"ts": 1713484785, "answers": []}] * copies)
    table, lines, bad = whole(read_zeek(path, SCHEMA))
    assert table.schema == SCHEMA.arrow
    bare = dict.fromkeys(READ) | {"ts": datetime(2024, 4, 18, 23, 59, 45), "answers": ""}
    assert table.to_pylist() == [READ, bare] * copies
    assert (lines, bad) == (list(range(1, 2 * copies + 1)), [])


@pytest.mark.parametrize(
    "text", ["2024-04-18T23:59:44.962686Z", "2024-04-18T23:59:44.962686", "2024-04-19T00:59:44.962686+01:00"]
)
@pytest.mark.parametrize("copies", [1, 100])
def test_times_may_be_texts(tmp_path: Path, text: str, copies: int) -> None:
    table, _, bad = whole(read_zeek(log(tmp_path, [{**FULL, "ts": text}] * copies), SCHEMA))
    assert table.to_pylist() == [READ] * copies
    assert not bad


def test_the_columns_can_be_seen(tmp_path: Path) -> None:
    path = log(tmp_path, [FULL, {"late": 1}])
    assert zeek_schema(path).names == ("ts", "id_orig_h", "rtt", "n", "ok", "answers", "TTLs", "more", "late")
    assert zeek_schema(path).types[:4] == SCHEMA.types[:4]
    with pytest.raises(DataError, match="has no JSON object"):
        zeek_schema(log(tmp_path, ["{", "{"]))


def test_bad_rows_are_kept_alone(tmp_path: Path) -> None:
    misfits = {
        10: ("{", "this is not JSON"),
        20: ("[1]", "expected a JSON object"),
        21: ('{"ts": "soon"}', "column ts wants TIMESTAMP, got 'soon'"),
        50: ('{"ts": 1, "n": 1.5}', "column n wants BIGINT, got 1.5"),
        51: ('{"ts": 1, "n": true}', "column n wants BIGINT, got True"),
        70: ('{"ts": 1e300}', "column ts wants TIMESTAMP"),
        90: ('{"ts": 1, "n": -9223372036854775808}', "column n wants BIGINT"),
        99: ('{"ts": 1} {"ts": 2}', "this is not JSON"),
    }
    lines: list[Any] = [misfits[i][0] if i in misfits else FULL for i in range(1, 101)]
    table, numbers, bad = whole(read_zeek(log(tmp_path, lines), SCHEMA))
    assert table.to_pylist() == [READ] * (100 - len(misfits))
    assert numbers == [i for i in range(1, 101) if i not in misfits]
    assert [(b.line, b.text) for b in bad] == [(i, text) for i, (text, _) in misfits.items()]
    assert all(b.reason.startswith(wanted) for b, (_, wanted) in zip(bad, misfits.values(), strict=True))


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "ts": st.one_of(st.none(), st.floats(0, 4e9).map(lambda x: round(x, 6)), st.just("2024-04-18T23:59:44Z")),
        "id.orig_h": st.one_of(st.none(), st.text(max_size=3), st.integers(0, 9)),
        "rtt": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-9, 9), st.just("x")),
        "n": st.one_of(st.none(), st.integers(-(2**64), 2**64), st.just(3.0)),
        "ok": st.one_of(st.none(), st.booleans(), st.just(0)),
        "answers": st.lists(st.text("ab,", max_size=2), max_size=3),
        "TTLs": st.one_of(st.lists(st.floats(0, 1e6), max_size=3), st.just([1, 2])),
    },
)


@given(rows=st.lists(VALUES, max_size=40), few=st.sampled_from([1, 4, 1000]))
def test_the_fast_path_reads_as_the_slow_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], few: int
) -> None:
    path = log(tmp_path_factory.mktemp("zeek"), [{"first": 1}, *rows])
    fast, slow = (whole(read_json_blocks(read_blocks(path), SCHEMA, up_to)) for up_to in (few, 1000))
    assert fast[0].equals(slow[0])
    assert fast[1:] == slow[1:]
