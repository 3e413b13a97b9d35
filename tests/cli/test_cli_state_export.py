"""Would catch an export that leaves out a buffer, or gives other values than the operators hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.run import lines, thalweg
from faults.lives import FlowLife, Life, QueryLife
from thalweg.runtime.distributed.checkpoint.store import ShardStore

LIVES: dict[str, Callable[[Path], Life]] = {"query": QueryLife, "flow": FlowLife}
BATCHES = 6


def arrays(tree: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a state but pools of strings and arrays that are saved as changes."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, dict) and "<array>" not in tree:
        for name, item in tree.items():
            if name != "pool":
                yield from arrays(item)
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from arrays(item)


@pytest.mark.parametrize("name", LIVES)
def test_all_arrays_are_exported(name: str, tmp_path: Path) -> None:
    life = LIVES[name](tmp_path / "checkpoint")
    life.go_on(BATCHES)
    (line,) = lines("state", life.checkpoint.folder, "--export", tmp_path / "export")
    assert "tables in" in line
    values: set[bytes] = set()
    for path in (tmp_path / "export").glob("stage-*/*.parquet"):
        table = pq.read_table(path, partitioning=None)
        assert table.column_names[:6] == ["stage", "shard", "group", "operator", "part", "row"]
        for part in table.group_by(["shard", "group", "operator", "part"], use_threads=False).aggregate([]).to_pylist():
            chosen = [all(row[key] == part[key] for key in part) for row in table.to_pylist()]
            for column in table.filter(pa.array(chosen)).columns[6:]:
                if not column.null_count and column.type in (pa.int64(), pa.float64()):
                    values.add(column.to_numpy().tobytes())
    held = [
        array
        for stage in life.checkpoint.stages
        for folder in life.checkpoint.shards(BATCHES - 1, stage)
        for array in arrays(ShardStore(folder).load(BATCHES - 1))
        if array.ndim == 1 and array.dtype in (np.int64, np.float64) and array.size
    ]
    assert len(held) > 20
    assert {array.tobytes() for array in held} <= values


def test_strings_have_their_texts(tmp_path: Path) -> None:
    life = QueryLife(tmp_path / "checkpoint")
    life.go_on(BATCHES)
    lines("state", life.checkpoint.folder, "--export", tmp_path / "export")
    strings = pq.read_table(tmp_path / "export" / "strings.parquet").to_pylist()
    left = min((tmp_path / "export" / "stage-0").glob("*-join._old_left._runs.parquet"))
    texts = {(row["stage"], row["shard"], row["group"], row["code"]): row["text"] for row in strings}
    keys = {
        texts[row["stage"], row["shard"], row["group"], row["columns.0"]]
        for row in pq.read_table(left, partitioning=None).to_pylist()
    }
    assert keys <= {"k0", "k1", "k2"}
    assert keys


def test_a_folder_with_files_is_not_written_to(tmp_path: Path) -> None:
    life = QueryLife(tmp_path / "checkpoint")
    life.go_on(1)
    result = thalweg("state", life.checkpoint.folder, "--export", life.checkpoint.folder)
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
