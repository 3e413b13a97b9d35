"""Would catch a start that goes on from a damaged state, goes back where it must not, or does not where it can."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.lives import FlowLife, Life, QueryLife
from thalweg.core.errors import CheckpointError, CheckpointWarning
from thalweg.runtime.distributed.checkpoint.manifest import read_manifest
from thalweg.runtime.distributed.checkpoint.resume import resume

DONE, END = 5, 7  # the last committed batch, and how many there are in all
LIVES: dict[str, Callable[[Path], Life]] = {"query": QueryLife, "flow": FlowLife}


@pytest.fixture(params=LIVES)
def lives(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Life, Life]:
    """One that was never stopped, and one that was stopped after batch `DONE`."""
    right, stopped = (LIVES[request.param](tmp_path / name) for name in ("right", "stopped"))
    right.go_on(END)
    stopped.go_on(DONE + 1)
    return right, stopped


def new_run_file(folder: Path, batch: int) -> Path:
    """The run file that a batch has written in a shard."""
    return folder / next(name for name in read_manifest(folder, batch).files if name.startswith(f"runs-{batch}-"))


def flip(path: Path) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :])


def last_stage(life: Life) -> int:
    return max(life.checkpoint.stages)


def test_a_whole_checkpoint_is_gone_on_from(lives: tuple[Life, Life]) -> None:
    right, stopped = lives
    assert not resume(stopped.checkpoint, last_stage(stopped) + 1)
    stopped.go_on(END)
    assert stopped.written == right.written


@pytest.mark.parametrize("what", ["runs", "manifest"])
@pytest.mark.parametrize("how", [flip, Path.unlink])
def test_the_last_batch_is_run_again_if_its_state_is_damaged(
    lives: tuple[Life, Life], what: str, how: Callable[[Path], None]
) -> None:
    right, stopped = lives
    for stage in stopped.checkpoint.stages:
        folder = stopped.checkpoint.shards(DONE, stage)[1]
        path = new_run_file(folder, DONE) if what == "runs" else folder / f"manifest-{DONE}.json"
        how(path)
        stopped.written.pop(DONE, None)
        with pytest.warns(CheckpointWarning, match=rf"{path.name}.*Batch {DONE} is run again"):
            stopped.go_on(DONE + 1)
        assert stopped.written[DONE] == right.written[DONE]
    stopped.go_on(END)
    assert stopped.written == right.written
    assert stopped.seen() == right.seen()


def test_a_stage_that_is_gone_as_a_whole_is_noticed(lives: tuple[Life, Life]) -> None:
    _, stopped = lives
    shutil.rmtree(stopped.checkpoint.folder / "state" / f"stage-{last_stage(stopped)}")
    with pytest.raises(
        CheckpointError, match=rf"manifest-{DONE}\.json is missing; the query cannot go back.*is not there"
    ):
        stopped.go_on(END)


def test_it_is_refused_if_the_state_before_is_damaged_too(lives: tuple[Life, Life]) -> None:
    _, stopped = lives
    folder = stopped.checkpoint.shards(DONE, 0)[0]
    flip(folder / f"manifest-{DONE}.json")
    flip(folder / f"manifest-{DONE - 1}.json")
    with pytest.raises(
        CheckpointError, match=rf"manifest-{DONE}\.json cannot.*manifest-{DONE - 1}\.json cannot"
    ) as found:
        stopped.go_on(END)
    assert found.value.hint == "restore the file from a backup"
    assert stopped.checkpoint.committed == DONE, "nothing was touched"


def test_it_is_refused_if_nobody_knows_what_the_batch_has_read(lives: tuple[Life, Life]) -> None:
    _, stopped = lives
    flip(stopped.checkpoint.shards(DONE, 0)[0] / f"manifest-{DONE}.json")
    stopped.checkpoint.offsets(DONE).unlink()
    with pytest.raises(CheckpointError, match=rf"offsets/{DONE} is missing"):
        stopped.go_on(END)


def test_it_is_refused_if_the_next_batch_may_have_been_written(lives: tuple[Life, Life]) -> None:
    _, stopped = lives
    stopped.go_on(DONE + 2)
    (stopped.checkpoint.commits / str(DONE + 1)).unlink()  # the sink has it, Spark does not know
    stages = last_stage(stopped) + 1
    flip(stopped.checkpoint.shards(DONE, 0)[0] / f"manifest-{DONE}.json")
    with pytest.raises(CheckpointError, match=rf"batch {DONE + 1} has begun"):
        resume(stopped.checkpoint, stages)
    for folder in stopped.checkpoint.shards(DONE + 1, last_stage(stopped)):
        (folder / f"manifest-{DONE + 1}.json").unlink()  # as if it had not come so far
    with pytest.warns(CheckpointWarning, match=f"Batch {DONE} is run again"):
        assert resume(stopped.checkpoint, stages)
    assert not stopped.checkpoint.offsets(DONE + 1).exists(), "Spark would go on with that batch"
    assert stopped.checkpoint.offsets(DONE).exists()


def test_the_first_batch_is_run_again_from_nothing(tmp_path: Path) -> None:
    right, stopped = QueryLife(tmp_path / "right"), QueryLife(tmp_path / "stopped")
    right.go_on(2)
    stopped.go_on(1)
    flip(stopped.checkpoint.shards(0, 1)[0] / "manifest-0.json")
    with pytest.warns(CheckpointWarning, match="Batch 0 is run again"):
        stopped.go_on(2)
    assert stopped.written == right.written


def test_a_damaged_command_is_named(tmp_path: Path) -> None:
    stopped = QueryLife(tmp_path)
    stopped.go_on(4)
    (path,) = stopped.checkpoint.control.iterdir()
    path.write_bytes(b"")
    with pytest.raises(CheckpointError, match=path.name):
        stopped.go_on(5)


def test_a_command_that_the_flow_has_obeyed_must_be_there(tmp_path: Path) -> None:
    stopped = FlowLife(tmp_path)
    stopped.go_on(6)
    last = max(stopped.checkpoint.commands.glob("*.json"))
    last.unlink()
    with pytest.raises(CheckpointError, match=r"the file with command 5 in .*commands is missing; the flow has obeyed"):
        stopped.go_on(7)
