"""Queries at work until they are done, or somebody stops them."""

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
from thalweg.core.time import BEGINNING
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.spark.api.query import SparkQuery
from thalweg.runtime.spark.api.run import Run
from thalweg.runtime.spark.sinks import Sink

EVERY = 1.0  # seconds between two lines of progress
AT_ONCE = {"availableNow": True}


@dataclass
class Job(ABC):
    """Something that runs on Spark: a query, or a flow."""

    name: str
    run: Run | None = field(default=None, init=False)

    @abstractmethod
    def start(self, trigger: dict[str, Any] | None) -> Run:
        """Begin, or go on."""


@dataclass
class QueryJob(Job):
    """A query with its checkpoint and sinks."""

    query: SparkQuery
    checkpoint: Path
    sinks: Sequence[Sink]

    def start(self, trigger: dict[str, Any] | None) -> Run:
        """Begin, or go on; if in another number of shards than before, a line says so."""
        batch = Checkpoint(self.checkpoint).committed + 1
        self.run = self.query.start(self.checkpoint, self.sinks, trigger)
        *_, before, now = (None, *self.run.layouts.history)
        if before is not None and now is not None and now.since == batch:
            line = f"{self.name}: goes on in {now.shards} shards instead of {before.shards}, from batch {batch} on"
            say(console(stderr=True), line, "bold")
        return self.run


J = TypeVar("J", bound=Job)


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets. Spark's own answer to it, to cancel all jobs, would break off a batch."""
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def work(
    jobs: Sequence[J],
    stop: threading.Event,
    until_done: bool,
    quiet: bool,
    seconds: float | None = None,
    meanwhile: Callable[[J], None] = lambda job: None,
) -> bool:
    """Run the jobs; True if they came to their end. `meanwhile` is called for each now and then.

    `seconds` are counted from the first rows that are done: a start on a busy machine takes its time.
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
    """Looks after jobs that run."""

    jobs: Sequence[J]
    stop: threading.Event
    quiet: bool
    seconds: float | None
    meanwhile: Callable[[J], None]
    began: float | None = None

    def ends(self) -> bool:
        """Until all jobs have ended (True), or are stopped."""
        shown, last = {job.name: -1 for job in self.jobs}, 0.0
        while any(job.run is not None and job.run.query.isActive for job in self.jobs):
            if self.stop.wait(0.2) or self._is_over():
                stop_all(self.jobs)
                return False
            if time.monotonic() - last > EVERY:
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


def _has_time(job: Job) -> bool:
    return job.run is not None and job.run.checkpoint.committed >= 0 and job.run.now > BEGINNING


def stop_all(jobs: Sequence[Job]) -> None:
    """End every job after what it is doing."""
    for job in jobs:
        if job.run is not None:
            job.run.stop()


def _fail_if_failed(job: Job, jobs: Sequence[Job]) -> None:
    assert job.run is not None
    try:
        job.run.wait_until_done(1)
    except ThalwegError as error:
        stop_all(jobs)
        error.message = f"{job.name}: {error.message}"
        raise
