"""Would catch a query or a stream whose name makes the command write outside the folders that it was given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thalweg.cli.spark.run_command import parse_sinks
from thalweg.core.batch import Batch
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layouts
from thalweg.runtime.distributed.checkpoint.report import LATE
from thalweg.runtime.distributed.ingest.side_outputs import SideOutputs, read_side_output
from thalweg.runtime.spark.sinks import ParquetSink

NAMES = ["../../x", "/tmp/x", "..", "con", "x" * 1_000, "\u00fc\u4e2d", "a/b", "Busy", "busy", "", "a\\b"]


@pytest.mark.parametrize("name", NAMES)
def test_sinks_and_tables_stay_in_their_folders(tmp_path: Path, name: str) -> None:
    (sink,) = parse_sinks([f"parquet:{tmp_path}"], name, several=True)
    assert isinstance(sink, ParquetSink)
    assert sink.path.parent == tmp_path
    assert Checkpoint(tmp_path).table(name).parent == tmp_path / "tables"


def test_late_rows_of_any_stream_stay_in_the_checkpoint(tmp_path: Path) -> None:
    checkpoint, schema = tmp_path / "deep" / "checkpoint", Schema.of(v=DataType.BIGINT)
    Layouts(1, ()).changed(0, 1).write(checkpoint)
    for name in NAMES:
        outputs = SideOutputs()
        outputs.add_late(name, Batch.of_arrivals([np.array([7])], np.array([1])), schema, StringPool())
        outputs.write(checkpoint, 0, 0, 1)
        assert len(read_side_output(checkpoint, LATE, name)) == 1
    folders = {path.parent for path in tmp_path.rglob("*.arrow")}
    assert len(folders) == len({folder.name.lower() for folder in folders}) == len(NAMES)
    assert {folder.parent for folder in folders} == {checkpoint / "side_outputs" / LATE}
