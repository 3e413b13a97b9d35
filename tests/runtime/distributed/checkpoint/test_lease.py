"""Would catch two drivers that run a query from one checkpoint, and an old one that writes after it was replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.steps import Steps
from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint import lease as leases
from thalweg.runtime.distributed.checkpoint.lease import HeldLease, read_lease, take
from thalweg.runtime.distributed.checkpoint.manifest import read_manifest
from thalweg.runtime.distributed.worker import step as memory
from thalweg.runtime.distributed.worker.step import ShardId, run_step

HOLDS = """
import sys, time
from pathlib import Path
from thalweg.runtime.distributed.checkpoint.lease import take
held = take(Path(sys.argv[1]))
held.keep()
print(held.fence, flush=True)
time.sleep(120)
"""


@contextmanager
def other_driver(checkpoint: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lease."""
    command = [sys.executable, "-c", HOLDS, str(checkpoint)]
    path = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdecimal()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def changed(checkpoint: Path, **fields: Any) -> None:
    """The lease as another driver would have it."""
    lease = read_lease(checkpoint)
    assert lease is not None
    leases._save(checkpoint, replace(lease, **fields))


class Fenced(Steps):
    """Its shards belong to a driver with a lease."""

    held: HeldLease

    def step(self, stage: int, shard: int, batch: int, messages: Any) -> Any:
        place = ShardId(f"{self.held.fence:06}", str(self.checkpoint), stage, shard, self.held.fence)
        return run_step(self.spec.run_spec.stages[stage], place, batch, messages)


def fenced(checkpoint: Path, held: HeldLease) -> Fenced:
    made = Fenced(checkpoint)
    made.held = held
    return made


def test_a_second_driver_is_refused_and_a_dead_one_is_replaced_at_once(tmp_path: Path) -> None:
    with other_driver(tmp_path) as other:
        with pytest.raises(
            CheckpointError, match=rf"is in use: driver {other.pid} on host .* since .*renewed \d+ s ago"
        ) as found:
            take(tmp_path)
        assert "or start with take_over=True" in str(found.value.hint)
        other.kill()
        other.wait()
        assert take(tmp_path).fence == 2


def test_a_driver_that_is_alive_can_be_replaced_by_force(tmp_path: Path) -> None:
    with other_driver(tmp_path):
        assert take(tmp_path, take_over=True).fence == 2


def test_one_on_another_host_is_waited_for_until_it_expires(tmp_path: Path) -> None:
    take(tmp_path)
    changed(tmp_path, host="elsewhere")
    with pytest.raises(CheckpointError, match="on host elsewhere"):
        take(tmp_path)
    changed(tmp_path, renewed=time.time() - leases.VALID_SECONDS - 1)
    assert take(tmp_path).fence == 2
    changed(tmp_path, host="elsewhere", released=True)
    assert take(tmp_path).fence == 3


def test_a_host_that_was_switched_off_holds_nothing(tmp_path: Path) -> None:
    take(tmp_path)
    changed(tmp_path, boot="before", process=1)
    assert take(tmp_path).fence == 2


def test_a_number_of_a_process_that_is_used_again_is_not_the_driver(tmp_path: Path) -> None:
    take(tmp_path)
    changed(tmp_path, process=1, process_start="long ago")
    assert take(tmp_path).fence == 2


def test_a_lease_is_renewed_and_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
    held, needed = take(tmp_path), [True]
    first = read_lease(tmp_path)
    assert first is not None
    held.keep(lambda: needed[0])
    _until(lambda: _lease(tmp_path).renewed > first.renewed)
    assert not _lease(tmp_path).released
    needed[0] = False
    _until(lambda: _lease(tmp_path).released)


def _lease(checkpoint: Path) -> leases.Lease:
    found = read_lease(checkpoint)
    assert found is not None
    return found


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_old_driver_that_wakes_up_changes_nothing(tmp_path: Path) -> None:
    memory._resting.clear()
    old = fenced(tmp_path, take(tmp_path))
    old.batch(0)
    new = fenced(tmp_path, take(tmp_path, take_over=True))
    right = new.batch(1)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(CheckpointError, match="another driver has taken over") as found:
        old.batch(1)
    assert "stop it" in str(found.value.hint)
    with pytest.raises(CheckpointError, match="another driver has taken over"):
        old.batch(2)
    with pytest.raises(CheckpointError, match="another driver has taken over"):
        old.held.check()
    old.held.release()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert right
    new.held.check()
    shard = tmp_path / "state" / "stage-0" / "from-0-of-2" / "shard-0"
    assert [read_manifest(shard, batch).fence for batch in (0, 1)] == [1, 2], "the fence stands in every manifest"
    new.batch(2)


def test_the_fence_goes_up_even_if_the_lease_was_lost(tmp_path: Path) -> None:
    memory._resting.clear()
    take(tmp_path)
    fenced(tmp_path, take(tmp_path)).batch(0)
    (tmp_path / "lease.json").unlink()
    assert take(tmp_path).fence == 3


def test_a_damaged_lease_is_named(tmp_path: Path) -> None:
    take(tmp_path)
    path = tmp_path / "lease.json"
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(CheckpointError, match=r"lease\.json cannot be read") as found:
        take(tmp_path)
    assert "take_over=True" in str(found.value.hint)
    assert take(tmp_path, take_over=True).fence == 1


@pytest.mark.parametrize("field", [{"renewed": "x"}, {"since": 1e300}, {"process": -1}, {"fence": 1.5}])
def test_a_crafted_lease_is_refused_in_words(tmp_path: Path, field: dict[str, Any]) -> None:
    take(tmp_path)
    changed(tmp_path, **field)
    with pytest.raises(CheckpointError, match=r"lease\.json cannot be read"):
        take(tmp_path)


def test_a_checkpoint_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(CheckpointError, match="cannot be written"):
        take(tmp_path / "file")
