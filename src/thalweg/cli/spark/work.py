"""Queries at work until they are done, or somebody stops them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException

from thalweg.cli.output import console, say
from thalweg.cli.spark.progress import Progress
from thalweg.core.errors import DataError
from thalweg.runtime.spark.query import SparkQuery
from thalweg.runtime.spark.run import Run
from thalweg.runtime.spark.sinks import Sink

EVERY = 1.0  # seconds between two lines of progress
AT_ONCE = {"availableNow": True}


@dataclass
class Job:
    """A query with its checkpoint and sinks."""

    name: str
    query: SparkQuery
    checkpoint: Path
    sinks: Sequence[Sink]
    run: Run | None = None

    def start(self, trigger: dict[str, Any] | None) -> Run:
        """Begin, or go on."""
        self.run = self.query.start(self.checkpoint, self.sinks, trigger)
        return self.run


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
    jobs: Sequence[Job],
    stop: threading.Event,
    until_done: bool,
    quiet: bool,
    seconds: float | None = None,
    meanwhile: Callable[[Job], None] = lambda job: None,
) -> bool:
    """Run the jobs; True if they came to their end. `meanwhile` is called for each now and then."""
    began = time.monotonic()
    rounds = (None, "drain") if until_done else (None,)
    for command in rounds:
        for job in jobs:
            if command == "drain" and job.run is not None:
                job.run.drain()
            job.start(AT_ONCE if until_done else None)
        if not _watch(jobs, stop, quiet, None if seconds is None else began + seconds, meanwhile):
            return False
    return True


def _watch(
    jobs: Sequence[Job], stop: threading.Event, quiet: bool, end: float | None, meanwhile: Callable[[Job], None]
) -> bool:
    to, shown, last = console(stderr=True), {job.name: -1 for job in jobs}, 0.0
    while any(job.run is not None and job.run.query.isActive for job in jobs):
        if stop.wait(0.2) or (end is not None and time.monotonic() > end):
            stop_all(jobs)
            return False
        if time.monotonic() - last < EVERY:
            continue
        last = time.monotonic()
        for job in jobs:
            assert job.run is not None
            progress = Progress(job.name, job.run)
            if not quiet and progress.batch != shown[job.name]:
                shown[job.name] = progress.batch
                say(to, progress.line(), "dim")
            meanwhile(job)
    for job in jobs:
        _fail_if_failed(job, jobs)
    return True


def stop_all(jobs: Sequence[Job]) -> None:
    """End every job after what it is doing."""
    for job in jobs:
        if job.run is not None:
            job.run.stop()


def _fail_if_failed(job: Job, jobs: Sequence[Job]) -> None:
    assert job.run is not None
    try:
        job.run.wait_until_done(1)
    except StreamingQueryException as error:
        stop_all(jobs)
        raise DataError(f"query {job.name} has failed: {error}") from error
