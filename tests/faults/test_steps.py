"""Would catch an answer that depends on who runs a batch, how often, and what of it was lost on the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.disk import Crash, failing, no_space
from faults.steps import SHARDS, Emitted, Steps, two_stages
from strategies.effort import examples
from thalweg.core.errors import CheckpointError
from thalweg.runtime.distributed.checkpoint.report import LATE
from thalweg.runtime.distributed.exchange.message import Message
from thalweg.runtime.distributed.ingest.side_outputs import read_side_output
from thalweg.runtime.distributed.worker import step as memory
from thalweg.runtime.distributed.worker.program import StepResult

BATCHES = 8
LATER_THAN_ALL = 10_000
MISHAPS = ["dies", "no space", "elsewhere", "output lost", "cut short", "cut short afterwards"]


@pytest.fixture(autouse=True)
def empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins in a new process, as it were, on a disk that is quick."""
    memory._resting.clear()
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Emitted]:
    memory._resting.clear()
    steps = Steps(tmp_path_factory.mktemp("undisturbed"))
    return [steps.batch(number) for number in range(BATCHES)]


def late_rows(checkpoint: Path) -> list[dict[str, object]]:
    return [row for table in read_side_output(checkpoint, LATE, "s") for row in table.to_pylist()]


@dataclass
class Disturbed(Steps):
    """Before a step counts, mishaps happen to it."""

    mishaps: dict[tuple[int, int, int], list[str]] = field(default_factory=dict)
    draw: random.Random = field(default_factory=random.Random)

    def step(self, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> StepResult:
        for mishap in self.mishaps.get((batch, stage, shard), ()):
            self._suffer(mishap, stage, shard, batch, messages)
        result = super().step(stage, shard, batch, messages)
        if "cut short afterwards" in self.mishaps.get((batch, stage, shard), ()):
            self._elsewhere(stage, shard, batch, messages[: self.draw.randrange(len(messages))])
        return result

    def _suffer(self, mishap: str, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> None:
        if mishap in ("dies", "no space"):
            step = self.draw.randrange(1, 40)
            with failing(self.checkpoint, step, Crash if mishap == "dies" else no_space):
                try:
                    super().step(stage, shard, batch, messages)
                except (Crash, CheckpointError):
                    assert memory.ShardId(self.start, str(self.checkpoint), stage, shard) not in memory._resting
            if mishap == "dies":
                memory._resting.clear()
        elif mishap == "elsewhere":  # another process does it, and this one goes on with the next batch
            self._elsewhere(stage, shard, batch, messages)
        elif mishap == "cut short":  # killed, a task may see its messages end early
            self._elsewhere(stage, shard, batch, messages[: self.draw.randrange(len(messages))])
        elif mishap == "output lost":
            super().step(stage, shard, batch, messages[::-1])  # they come in any order

    def _elsewhere(self, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> None:
        mine = dict(memory._resting)
        memory._resting.clear()
        super().step(stage, shard, batch, messages)
        memory._resting.clear()
        memory._resting.update(mine)


@examples(10)
@given(data=st.data())
def test_any_mishaps_give_the_same_answers(
    data: st.DataObject, undisturbed: list[Emitted], tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory._resting.clear()
    kinds = st.lists(st.sampled_from(MISHAPS), max_size=3)
    where = st.tuples(st.integers(0, BATCHES - 1), st.integers(0, 1), st.integers(0, SHARDS - 1))
    checkpoint = tmp_path_factory.mktemp("disturbed")
    draw = random.Random(data.draw(st.integers(0, 1_000), label="steps"))
    steps = Disturbed(checkpoint, mishaps=data.draw(st.dictionaries(where, kinds, max_size=8)), draw=draw)
    for number in range(BATCHES):
        if data.draw(st.booleans(), label="the batch is run twice as a whole"):
            assert steps.batch(number) == undisturbed[number]
        assert steps.batch(number) == undisturbed[number]
    assert len(late_rows(checkpoint)) == BATCHES - 1


class CutShort(Steps):
    """Its tasks miss their last message."""

    def step(self, stage: int, shard: int, batch: int, messages: Sequence[Message]) -> StepResult:
        return super().step(stage, shard, batch, messages[:-1])


def test_a_batch_that_was_done_is_not_undone_by_another_process(undisturbed: list[Emitted], tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.batch(0)
    mine = dict(memory._resting)
    for other in (Steps(tmp_path), CutShort(tmp_path), CutShort(tmp_path, start="an earlier one")):
        memory._resting.clear()
        other.batch(0)
    memory._resting.clear()
    memory._resting.update(mine)
    for number in range(1, BATCHES):
        assert steps.batch(number) == undisturbed[number]
    place = next(iter(mine))
    assert memory._resting[place].store is mine[place].store, "what this process remembers still counts"


def test_memory_of_a_batch_that_another_process_did_again_is_not_used(
    undisturbed: list[Emitted], tmp_path: Path
) -> None:
    CutShort(tmp_path).batch(0)
    mine = dict(memory._resting)
    memory._resting.clear()
    steps = Steps(tmp_path)
    assert steps.batch(0) == undisturbed[0]  # by another process, after this one's task was killed
    memory._resting.clear()
    memory._resting.update(mine)
    for number in range(1, BATCHES):  # the manifests of these name only files of the second attempt
        assert steps.batch(number) == undisturbed[number]
    place = next(iter(mine))
    assert memory._resting[place].store is not mine[place].store


def test_a_checkpoint_that_was_deleted_is_forgotten(undisturbed: list[Emitted], tmp_path: Path) -> None:
    steps = Steps(tmp_path / "checkpoint")
    for number in range(BATCHES - 1):
        steps.batch(number)
    mine = dict(memory._resting)
    shutil.rmtree(tmp_path / "checkpoint")
    memory._resting.clear()
    again = Steps(tmp_path / "checkpoint", spec=two_stages(lateness=LATER_THAN_ALL))  # another query, if you like
    for number in range(BATCHES - 1):
        again.batch(number)
    memory._resting.clear()
    memory._resting.update(mine)  # this process has not run a shard since, and has done batch 6, of another life
    assert again.batch(BATCHES - 1) == []
    assert undisturbed[BATCHES - 1] != []


def test_a_query_that_is_started_with_other_settings_does_not_go_on_with_the_old_ones(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    for number in range(5):
        steps.batch(number)
    assert len(late_rows(tmp_path)) == 4
    patient = Steps(tmp_path, spec=two_stages(lateness=LATER_THAN_ALL), start="second")
    assert patient.batch(5) == [], "time stands still until rows come that are later than the lateness allows"
    assert {place.start for place in memory._resting} == {"second"}


def test_shards_that_rest_in_vain_are_forgotten(tmp_path: Path) -> None:
    Steps(tmp_path / "stopped").batch(0)
    steps = Steps(tmp_path / "runs")
    steps.batch(0)
    assert len(memory._resting) == 4 * SHARDS
    steps.longest_rest = -1.0
    steps.batch(1)
    assert {place.checkpoint for place in memory._resting} == {str(tmp_path / "runs")}


def test_a_full_disk_says_so_and_the_query_goes_on_when_there_is_space(
    undisturbed: list[Emitted], tmp_path: Path
) -> None:
    steps = Steps(tmp_path)
    steps.batch(0)
    with failing(tmp_path, 3, no_space), pytest.raises(CheckpointError, match="No space left on device"):
        steps.batch(1)
    for number in range(1, BATCHES):
        assert steps.batch(number) == undisturbed[number]


# -- the same in several processes


def _speculate(checkpoint: str, batch: int, results: str) -> None:
    emitted = Steps(Path(checkpoint)).batch(batch)
    Path(results, f"{os.getpid()}.json").write_text(json.dumps(emitted))


def test_two_processes_that_do_a_batch_at_once_say_the_same(undisturbed: list[Emitted], tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    steps = Steps(tmp_path / "checkpoint")
    for number in range(3):
        steps.batch(number)
    both = [context.Process(target=_speculate, args=(str(steps.checkpoint), 3, str(tmp_path))) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    results = [[tuple(row) for row in json.loads(path.read_bytes())] for path in tmp_path.glob("*.json")]
    assert results == [undisturbed[3], undisturbed[3]]
    for number in range(4, BATCHES):
        assert steps.batch(number) == undisturbed[number]


def _work_until_killed(checkpoint: str) -> None:
    steps, number = Steps(Path(checkpoint)), 0
    while number < BATCHES:
        steps.batch(number)
        Path(checkpoint, "done").write_text(str(number))
        number += 1
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.parametrize("seed", range(2))
def test_a_process_that_is_killed_is_followed_by_another(undisturbed: list[Emitted], tmp_path: Path, seed: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_work_until_killed, args=(str(tmp_path),))
    process.start()
    draw = random.Random(seed)
    while not (tmp_path / "state").exists():
        process.join(0.01)
    process.join(draw.random() / 2)
    process.kill()
    process.join()
    done = int((tmp_path / "done").read_text() or -1) if (tmp_path / "done").exists() else -1
    for number in range(done + 1, BATCHES):
        assert Steps(tmp_path).batch(number) == undisturbed[number]
