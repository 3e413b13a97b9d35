"""Would catch a state that is lost or torn: the process dies, power goes or space runs out at any step of a save."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from faults.disk import Crash, failing, no_space
from thalweg.core.errors import CheckpointError
from thalweg.kernel.state.snapshot import Tree
from thalweg.runtime.distributed.checkpoint.store import KEPT_BATCHES, ShardStore

BATCHES = 6


def state(batch: int) -> Tree:
    """Immutable runs that come and go, arrays that change, and plain values."""
    runs = [RUNS[i] for i in range(max(0, batch - 2), batch + 1)]
    return {
        "batch": batch,
        "runs": runs,
        "changed": np.arange(batch + 1),
        "same": np.arange(5),
        "name": "x",
        "no": None,
    }


RUNS = [(np.arange(i, i + 4), np.full(2, float(i))) for i in range(2 * BATCHES)]


def same(one: Tree, other: Tree) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def saved(folder: Path, batches: int) -> ShardStore:
    store = ShardStore(folder)
    for batch in range(batches):
        store.save(batch, state(batch))
    return store


def steps_of_a_save(folder: Path, batch: int) -> int:
    (folder / "counted").mkdir()
    store = saved(folder / "counted" / "shard", batch)
    with failing(folder / "counted") as disk:
        store.save(batch, state(batch))
    return disk.steps


@pytest.mark.parametrize("power_too", [False, True], ids=["crash", "power loss"])
@pytest.mark.parametrize("batch", [0, 1, BATCHES])
def test_at_any_step_the_state_before_or_after_is_there(tmp_path: Path, batch: int, power_too: bool) -> None:
    steps = steps_of_a_save(tmp_path, batch)
    assert steps > 6
    for step in range(1, steps + 1):
        root = tmp_path / f"step-{step}"
        root.mkdir()
        store = saved(root / "shard", batch)
        with failing(root, step) as disk, pytest.raises(Crash):
            store.save(batch, state(batch))
        if power_too:
            disk.lose_power()
        known = [b for b in range(batch + 1) if ShardStore(root / "shard").has(b)]
        if batch:  # the batch is run again, so the state before must be there, whatever else is
            assert same(ShardStore(root / "shard").load(batch - 1), state(batch - 1))
        for b in known[-2:]:
            assert same(ShardStore(root / "shard").load(b), state(b))
        again = ShardStore(root / "shard")
        if batch:
            again.load(batch - 1)
        for b in range(batch, batch + 2 * KEPT_BATCHES):
            again.save(b, state(b))
        assert same(ShardStore(root / "shard").load(b), state(b))
        assert not list(root.rglob(".*")), "what the crash left behind is gone after some batches"


@pytest.mark.parametrize("batch", [0, 1, BATCHES])
def test_a_state_that_was_saved_outlives_power(tmp_path: Path, batch: int) -> None:
    store = saved(tmp_path / "query" / "shard", batch)
    with failing(tmp_path) as disk:
        store.save(batch, state(batch))
    disk.lose_power()
    assert same(ShardStore(tmp_path / "query" / "shard").load(batch), state(batch))


def test_when_space_has_run_out_the_error_says_so_and_nothing_is_left_of_the_attempt(tmp_path: Path) -> None:
    for step in range(1, steps_of_a_save(tmp_path, 2) + 1):
        folder = tmp_path / f"step-{step}" / "shard"
        store = saved(folder, 2)
        with failing(folder.parent, step, no_space):
            try:
                store.save(2, state(2))
            except CheckpointError as error:
                assert "No space left on device" in str(error)
                assert "start the query again" in str(error)
                assert not list(folder.glob(".*"))
                assert not store.is_at(2)
        assert same(ShardStore(folder).load(1), state(1))
        store = ShardStore(folder)
        store.load(1)
        store.save(2, state(2))  # space has been made
        assert same(ShardStore(folder).load(2), state(2))


def test_only_the_last_states_and_what_they_name_are_kept(tmp_path: Path) -> None:
    store = saved(tmp_path, BATCHES)
    assert store.batches() == list(range(BATCHES - KEPT_BATCHES, BATCHES))
    counts = []
    for batch in range(BATCHES, 2 * BATCHES):
        store.save(batch, state(batch))
        counts.append(len(list(tmp_path.iterdir())))
    assert counts[-1] == counts[0]
    for batch in store.batches():
        assert same(ShardStore(tmp_path).load(batch), state(batch))


def test_an_array_that_was_away_for_long_is_written_again(tmp_path: Path) -> None:
    store, array = ShardStore(tmp_path), np.arange(3)
    store.save(0, {"run": (array,)})
    for batch in range(1, 3 * KEPT_BATCHES):
        store.save(batch, {"run": ()})
    assert not list(tmp_path.glob("runs-0-*")), "its file is gone"
    store.save(3 * KEPT_BATCHES, {"run": (array,)})
    assert same(ShardStore(tmp_path).load(3 * KEPT_BATCHES), {"run": (array,)})


def test_two_attempts_at_a_batch_leave_one_state_and_an_overtaken_one_removes_nothing(tmp_path: Path) -> None:
    one, other = saved(tmp_path, 2), ShardStore(tmp_path)
    other.load(1)
    one.save(2, state(2))
    assert one.is_at(2)
    other.save(2, state(2))
    assert not one.is_at(2)
    assert other.is_at(2)
    late = ShardStore(tmp_path)
    late.load(1)
    for batch in range(3, BATCHES):
        other.save(batch, state(batch))
    late.save(2, state(2))  # woken up after all these
    assert same(ShardStore(tmp_path).load(BATCHES - 1), state(BATCHES - 1))
    assert other.is_at(BATCHES - 1)


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    for name in (".nfs0001", "notes.txt", "runs"):
        (tmp_path / name).write_text("mine")
    saved(tmp_path, BATCHES)
    assert {p.name for p in tmp_path.iterdir()} >= {".nfs0001", "notes.txt", "runs"}


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    saved(tmp_path, 3)
    (runs,) = tmp_path.glob("runs-2-*")
    runs.write_bytes(runs.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=r"runs-2-\w+.arrow cannot be read"):
        ShardStore(tmp_path).load(2)
    runs.unlink()
    with pytest.raises(CheckpointError, match=r"runs-2-\w+.arrow is missing"):
        ShardStore(tmp_path).load(2)
    manifest = tmp_path / "manifest-2.json"
    manifest.write_text(manifest.read_text()[:50])
    with pytest.raises(CheckpointError, match=r"manifest-2.json cannot be read"):
        ShardStore(tmp_path).load(2)
    manifest.write_text('{"version": 99}')
    with pytest.raises(CheckpointError, match="has format 99, but this version of Thalweg reads format 5"):
        ShardStore(tmp_path).load(2)
    with pytest.raises(CheckpointError, match="the state after batch 7 is not there"):
        ShardStore(tmp_path).load(7)
