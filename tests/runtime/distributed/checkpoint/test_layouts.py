"""Would catch a start that reads the state of a layout in which the batch before was not done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thalweg.core.errors import CheckpointError
from thalweg.kernel.pipeline.identity import Identity
from thalweg.runtime.distributed.checkpoint.folder import Asked, Checkpoint
from thalweg.runtime.distributed.checkpoint.layouts import Layout, Layouts, shard_folder

ME = Identity("  a plan", "digest", "auto")


def history(checkpoint: Checkpoint, shards: int | None) -> list[tuple[int, int]]:
    """What a start in so many shards makes of the layouts, as a later one reads them."""
    claimed = checkpoint.claim(ME, Asked(2, shards))
    assert claimed == checkpoint.layouts
    return [(layout.since, layout.shards) for layout in claimed.history]


def commit(checkpoint: Checkpoint, batch: int) -> None:
    """As Spark does it."""
    (checkpoint.spark / "commits").mkdir(parents=True, exist_ok=True)
    (checkpoint.spark / "commits" / str(batch)).touch()


def test_only_a_start_that_asks_for_it_changes_the_shards_from_the_next_batch_on(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    assert history(checkpoint, None) == [(0, 2)]
    assert history(checkpoint, 3) == [(0, 3)], "no batch is done, so nothing is to be kept"
    commit(checkpoint, 4)
    assert history(checkpoint, None) == [(0, 3)]
    assert history(checkpoint, 5) == [(0, 3), (5, 5)]
    assert history(checkpoint, 5) == [(0, 3), (5, 5)], "it was killed before its first batch"
    commit(checkpoint, 5)
    assert history(checkpoint, None) == [(0, 3), (5, 5)]
    assert history(checkpoint, 8) == [(0, 3), (5, 5), (6, 8)], "as many as there are groups"


def test_a_layout_that_has_not_come_to_a_batch_is_dropped(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    history(checkpoint, 3)
    commit(checkpoint, 4)
    assert history(checkpoint, 5) == [(0, 3), (5, 5)]
    begun = shard_folder(tmp_path, 0, Layout(5, 5), 0)
    begun.mkdir(parents=True)
    assert history(checkpoint, 2) == [(0, 3), (5, 2)]
    assert not begun.exists()
    assert history(checkpoint, 3) == [(0, 3)], "as if nobody had ever asked"


def test_each_batch_has_one_layout() -> None:
    layouts = Layouts(8, ()).changed(0, 2).changed(5, 5).changed(9, 1)
    assert [layouts.at(batch).shards for batch in (0, 4, 5, 8, 9, 100)] == [2, 2, 5, 5, 1, 1]
    assert sorted(group for shard in range(5) for group in Layout(5, 5).groups_of(shard, 8)) == list(range(8))


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.claim(ME, Asked(2, 2, groups=3))
    with pytest.raises(CheckpointError, match="spread over 3 groups, so it cannot run in 4 shards") as caught:
        checkpoint.claim(ME, Asked(2, 4))
    assert caught.value.hint == (
        "go on with at most 3 shards, or start the query anew, with another checkpoint and groups=16"
    )
    path = tmp_path / "layouts.json"
    path.write_text(path.read_text()[:10])
    with pytest.raises(CheckpointError, match=r"layouts.json cannot be read"):
        checkpoint.claim(ME, Asked(2))
    path.unlink()
    with pytest.raises(CheckpointError, match=r"layouts.json is missing"):
        checkpoint.claim(ME, Asked(2))
    about = tmp_path / "query.json"
    tree = json.loads(about.read_text())
    del tree["checksum"]
    about.write_text(json.dumps({**tree, "version": 1}))
    with pytest.raises(CheckpointError, match="has format 1, but this version of Thalweg reads format 6"):
        checkpoint.claim(ME, Asked(2))
