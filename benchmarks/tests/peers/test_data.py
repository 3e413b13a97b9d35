"""Would catch layouts that hold different rows, times on which windows of two systems differ, and streams that lag."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
import pytest

from thalweg_benchmarks.peers.data import write
from thalweg_benchmarks.peers.streams import WORKLOADS, filters


@pytest.mark.parametrize("workload", WORKLOADS)
def test_all_layouts_hold_the_same_rows(workload: str, tmp_path: Path) -> None:
    place = write(tmp_path, workload, 3_000, 700, ["csv", "headed", "parquet"])
    for stream in WORKLOADS[workload]:
        table = _parquet(place, stream.name)
        plain = table.column("ts").cast(pa.int64()).to_numpy() // 1000
        assert (plain % 1000 != 0).all() and (plain[1:] >= plain[:-1]).all()
        names = ["number" if name == "id" else name for name in table.column_names]
        files = sorted((place / "headed" / stream.name).iterdir())
        headed = pa.concat_tables([pc_csv.read_csv(file) for file in files])
        assert headed.column_names == names and headed.column("ts").to_pylist() == plain.tolist()
        options = pc_csv.ReadOptions(column_names=table.column_names)
        parts = [pc_csv.read_csv(place / "csv" / stream.name / f"{i}.csv", read_options=options) for i in (0, 1)]
        assert all((part.column("ts").to_numpy()[1:] >= part.column("ts").to_numpy()[:-1]).all() for part in parts)
        assert _sorted(pa.concat_tables(parts)) == _sorted(headed.rename_columns(table.column_names))
        if "k" in names:
            assert [set((part.column("k").to_numpy() % 2).tolist()) for part in parts] == [{0}, {1}]


def test_all_streams_of_a_workload_end_together(tmp_path: Path) -> None:
    for workload, streams in WORKLOADS.items():
        place = write(tmp_path, workload, 3_000, 700, ["parquet"])
        assert len({pc.max(_parquet(place, stream.name).column("ts")) for stream in streams}) == 1


def test_files_are_read_in_order_of_their_times(tmp_path: Path) -> None:
    files = sorted((write(tmp_path, "one", 3_000, 700, ["parquet"]) / "parquet" / "s").iterdir())
    assert len(files) == 5
    assert [file.stat().st_mtime for file in files] == [0, 1, 2, 3, 4]


def test_keys_are_skewed_and_sums_are_exact(tmp_path: Path) -> None:
    table = _parquet(write(tmp_path, "one", 50_000, 50_000, ["parquet"]), "s")
    counts = sorted(pc.value_counts(table.column("k")).field("counts").to_pylist(), reverse=True)
    assert 1_800 < len(counts) <= 2_000 and counts[0] > 20 * counts[len(counts) // 2]
    assert all(float(v * 1024).is_integer() for v in table.column("v").to_pylist()[:1000])


def test_filters_want_a_small_share_each() -> None:
    wanted = filters()
    assert len(wanted) == 1_000 and all(x != y and 0 <= low < 1_000 for x, low, y, _ in wanted)


def _parquet(place: Path, name: str) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in sorted((place / "parquet" / name).iterdir())])


def _sorted(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))
