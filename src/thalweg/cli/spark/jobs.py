"""Jobs on Spark: runs queries or flows until they are done or stopped, and prints their progress."""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from thalweg.cli.output import console, say
from thalweg.cli.spark.progress import Progress
from thalweg.core.errors import ThalwegError
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.query_run import SparkQueryRun
from thalweg.runtime.spark.api.run import SparkRun
from thalweg.runtime.spark.sinks import Sink

SECONDS_BETWEEN_LINES = 1.0  # of progress
AT_ONCE = {"availableNow": True}


@dataclass
class SparkJob(ABC):
    """A query or a flow on Spark."""

    name: str
    run: SparkRun | None = field(default=None, init=False)

    @abstractmethod
    def start(self, trigger: dict[str, Any] | None) -> SparkRun:
        """Start or resume it."""


@dataclass
class QueryJob(SparkJob):
    """A query with its checkpoint and sinks."""

    query: SparkQuery
    checkpoint: Path
    sinks: Sequence[Sink]
    take_over: bool = False  # though another driver holds the checkpoint

    def start(self, trigger: dict[str, Any] | None) -> SparkQueryRun:
        """Start or resume the query; print a line if the number of shards has changed."""
        batch = Checkpoint(self.checkpoint).committed + 1
        self.run = run = self.query.start(self.checkpoint, sink=self.sinks, trigger=trigger, take_over=self.take_over)
        *_, before, now = (None, *run.layouts.history)
        if before is not None and now is not None and now.since == batch:
            line = f"{self.name}: goes on in {now.shards} shards instead of {before.shards}, from batch {batch} on"
            say(console(stderr=True), line, "bold")
        return run


J = TypeVar("J", bound=SparkJob)


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets. Spark's own handler would cancel its jobs in the middle of a batch."""
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def run_jobs(
    jobs: Sequence[J],
    stop: threading.Event,
    until_done: bool,
    quiet: bool,
    seconds: float | None = None,
    meanwhile: Callable[[J], None] = lambda job: None,
) -> bool:
    """Run the jobs; True if they have ended by themselves. `meanwhile` is called for each job every second.

    `seconds` count from the first batch with rows, for Spark may start slowly on a busy machine.
    """
    watch = _Watch(jobs, stop, quiet, seconds, meanwhile)
    for job in jobs:
        job.start(AT_ONCE if until_done else None)
    if not watch.ends():
        return False
    for job in jobs if until_done else ():
        assert job.run is not None
        job.run.drain()
        job.start(AT_ONCE)
    return watch.ends()


@dataclass
class _Watch(Generic[J]):
    """Watches running jobs."""

    jobs: Sequence[J]
    stop: threading.Event
    quiet: bool
    seconds: float | None
    meanwhile: Callable[[J], None]
    began: float | None = None

    def ends(self) -> bool:
        """Wait until all jobs have ended (True) or are stopped (False)."""
        shown, last = {job.name: -1 for job in self.jobs}, 0.0
        while any(job.run is not None and job.run.is_active for job in self.jobs):
            if self.stop.wait(0.2) or self._is_over():
                stop_all(self.jobs)
                return False
            if time.monotonic() - last > SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                for job in self.jobs:
                    self._look(job, shown)
        for job in self.jobs:
            _fail_if_failed(job, self.jobs)
        return True

    def _look(self, job: J, shown: dict[str, int]) -> None:
        assert job.run is not None
        progress = Progress(job.name, job.run)
        if not self.quiet and progress.batch != shown[job.name]:
            shown[job.name] = progress.batch
            say(console(stderr=True), progress.line(), "dim")
        self.meanwhile(job)

    def _is_over(self) -> bool:
        if self.began is None and any(_has_time(job) for job in self.jobs):
            self.began = time.monotonic()
        return self.seconds is not None and self.began is not None and time.monotonic() > self.began + self.seconds


def _has_time(job: SparkJob) -> bool:
    return job.run is not None and job.run.now is not None


def stop_all(jobs: Sequence[SparkJob]) -> None:
    """Stop every job after its current batch."""
    for job in jobs:
        if job.run is not None:
            job.run.stop()


def _fail_if_failed(job: SparkJob, jobs: Sequence[SparkJob]) -> None:
    assert job.run is not None
    try:
        job.run.wait_until_done(1)
    except ThalwegError as error:
        stop_all(jobs)
        error.message = f"{job.name}: {error.message}"
        raise
