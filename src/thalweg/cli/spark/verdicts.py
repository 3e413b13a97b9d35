"""Compares answers with the one-time query while queries run, and prints the outcome."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from thalweg.cli.output import as_text, console, say
from thalweg.cli.spark.jobs import QueryJob
from thalweg.core.errors import DataError, PlanError
from thalweg.core.path_names import place_of
from thalweg.runtime.spark.tools.verify import Verdict, Verifier

SECONDS_BETWEEN_COMPARISONS = 5.0
ROWS_TO_SHOW = 5  # of those that differ


class Verdicts:
    """Compares answers every few seconds and at the end; `differs` is true once an answer was wrong."""

    def __init__(self, folder: Path) -> None:
        self.differs = False
        self._folder = folder
        self._verifiers: dict[str, Verifier] = {}
        self._last: dict[str, float] = {}

    def take(self, job: QueryJob) -> None:
        """Compare if it is time; time counts from the first batch of this run."""
        if job.run is None or job.run.query.lastProgress is None:
            return
        if time.monotonic() - self._last.setdefault(job.name, time.monotonic()) > SECONDS_BETWEEN_COMPARISONS:
            self._compare(job)
            self._last[job.name] = time.monotonic()

    def finish(self, jobs: Sequence[QueryJob]) -> None:
        """Compare the last answer of every query."""
        for job in jobs:
            self._compare(job)

    def _compare(self, job: QueryJob) -> None:
        run = job.query.run
        if run is None or run.checkpoint.committed < 0:
            return
        if job.name not in self._verifiers:
            self._verifiers[job.name] = Verifier(job.query, place_of(self._folder, job.name))
        try:
            verdict = self._verifiers[job.name].verify(run)
        except (DataError, PlanError) as error:
            say(console(stderr=True), f"{job.name} is not verified: {error}", "yellow")
            return
        self._print(job, verdict)

    def _print(self, job: QueryJob, verdict: Verdict) -> None:
        self.differs = self.differs or not verdict.equal
        assert job.run is not None
        to, when = console(stderr=True), job.run.clock.show(verdict.at)
        if verdict.equal:
            say(to, f"{job.name} at {when}: equal to the one-time query in Spark SQL, {verdict.rows:,} rows", "green")
            return
        say(to, f"{job.name} at {when}: DIFFERS from the one-time query in Spark SQL", "bold red")
        for sign, rows in (("missing", verdict.missing), ("too many", verdict.extra)):
            for row in rows[:ROWS_TO_SHOW]:
                say(to, f"  {sign}: {', '.join(map(as_text, row))}")
            if len(rows) > ROWS_TO_SHOW:
                say(to, f"  {sign}: {len(rows) - ROWS_TO_SHOW:,} more rows")
