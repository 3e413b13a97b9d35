"""Would catch a state that is written again and again, and files that are kept for a sliver of what they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from thalweg.runtime.distributed.checkpoint.manifest import read_manifest
from thalweg.runtime.distributed.checkpoint.store import ShardStore


def files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob("runs-*")}


def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    store, large = ShardStore(tmp_path), np.arange(100_000)
    store.save(0, {"large": (large,)})
    for batch in range(1, 6):
        store.save(batch, {"large": (large,), "batch": batch})
    assert len(files(tmp_path)) == 1
    again = ShardStore(tmp_path)
    loaded = again.load(5)
    again.save(6, loaded)
    assert len(files(tmp_path)) == 1


def test_a_file_is_not_kept_for_a_sliver(tmp_path: Path) -> None:
    store, large, sliver = ShardStore(tmp_path), np.arange(100_000), np.arange(10)
    store.save(0, {"large": (large,), "sliver": (sliver,)})
    for batch in range(1, 6):
        store.save(batch, {"sliver": (sliver,)})
    assert sum(files(tmp_path).values()) < 10_000
    np.testing.assert_array_equal(ShardStore(tmp_path).load(5)["sliver"][0], sliver)


def test_small_files_stay_few(tmp_path: Path) -> None:
    store, runs = ShardStore(tmp_path), []
    for batch in range(100):
        runs.append((np.full(3, batch),))
        store.save(batch, {"runs": list(runs)})
        assert len(read_manifest(tmp_path, batch).files) <= 18
    assert [int(run[0][0]) for run in ShardStore(tmp_path).load(99)["runs"]] == list(range(100))
