"""Tasks that raise once, or are slow once, in the middle of a stage; each leaves a note of it in a folder.

What is disturbed follows from the batch, the stage and the shard alone, so a test knows that something was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pyarrow as pa
from pyspark import TaskContext

from thalweg.runtime.spark.tasks.read import ArrowTask
from thalweg.runtime.spark.tasks.running_task import running_task
from thalweg.runtime.spark.tasks.stage import StageTask

EARLY, LATE = range(2)  # before the shard's step, or when the state is on disk and half is said
ONE_IN = {"raise": 3, "slow": 12}  # steps is disturbed early, and another late
LONG = 6.0  # seconds


class DisturbanceError(Exception):
    """Not the query's fault."""


@contextmanager
def disturbed(kind: str | None, folder: Path) -> Iterator[None]:
    """While this lasts, queries are compiled with stages that are disturbed: "raise", "slow", or None."""
    if kind is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    plain, disturb = StageTask.task, {"raise": _raise, "slow": _sleep}[kind]

    def task(self: StageTask) -> ArrowTask:
        return _disturb(plain(self), self.spec.number, str(folder), ONE_IN[kind], disturb)

    StageTask.task = task  # type: ignore[method-assign]
    try:
        yield
    finally:
        StageTask.task = plain  # type: ignore[method-assign]


def _disturb(run: ArrowTask, stage: int, folder: str, one_in: int, disturb: Callable[[], None]) -> ArrowTask:
    def attempt(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        shard, batch = running_task()
        name = f"{batch}-{stage}-{shard}"
        moment = crc32(name.encode()) % one_in
        first = _first_note(Path(folder) / name, context.taskAttemptId())
        if moment == EARLY and first:
            disturb()
        said = list(run(batches))
        yield from (batch.slice(0, batch.num_rows // 2) for batch in said)
        if moment == LATE and first:
            disturb()
        yield from (batch.slice(batch.num_rows // 2) for batch in said)

    return attempt


def _first_note(path: Path, attempt: int) -> bool:
    """Note an attempt; whether it is the first at its step."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        path.with_name(f"{path.name}.{attempt}").touch()
        return False
    return True


def _raise() -> None:
    raise DisturbanceError("for once")


def _sleep() -> None:
    time.sleep(LONG)


def repeated(folder: Path) -> set[str]:
    """The steps that were run more than once: batch-stage-shard."""
    return {path.name.partition(".")[0] for path in folder.glob("*.*")}
