"""The line of progress of a running query."""

from __future__ import annotations

import time
from dataclasses import dataclass

from thalweg.core.python_values import read_instant
from thalweg.core.time import Clock
from thalweg.runtime.spark.api.run import SparkRun

_LIVE_WITHIN = 10 * 60 * 10**6  # a stream is live if its latest tuple is no older than this, in microseconds


@dataclass
class Progress:
    """The progress of a run, as a line under the query's name."""

    name: str
    run: SparkRun

    @property
    def batch(self) -> int:
        """The last batch that is done."""
        return self.run.checkpoint.committed

    def line(self) -> str:
        """Batch, time, rows per second, delay, state and rows in side outputs."""
        metrics = self.run.metrics()
        if metrics.batch is None:
            return f"{self.name}: waiting for the first rows"
        now = "the beginning" if metrics.now is None else metrics.now
        parts, rate = [f"{self.name}: batch {metrics.batch}", f"at {now}"], metrics.rows_per_second
        parts.append("- rows/s" if rate is None else f"{rate:,.0f} rows/s")
        delay = self._delay()
        parts += [] if delay is None else [f"delay {delay}"]
        parts.append(f"{metrics.stored + metrics.waiting:,} tuples held")
        bad = sum(metrics.bad_rows.values())
        parts += [f"{sum(metrics.late.values()):,} late"] + ([f"{bad:,} bad rows"] if bad else [])
        rejected, retries = sum(metrics.rejected.values()), sum(metrics.retries.values())
        parts += ([f"{rejected:,} rejected by sinks"] if rejected else []) + (
            [f"{retries:,} retries"] if retries else []
        )
        return ", ".join(parts)

    def _delay(self) -> str | None:
        """How far the answer is behind the system's clock if the stream is live, else behind the latest tuple."""
        shown, clock, now = self.run.latest, self.run.clock, self.run.clock_now
        if shown is None or now is None:
            return None
        latest, system = read_instant(clock, shown, "the latest tuple"), time.time_ns() // 1_000
        live = clock is Clock.TIMESTAMPS and abs(system - latest) < _LIVE_WITHIN
        ticks = max(0, (system if live else latest) - now)
        return f"{ticks / 1e6:.1f} s" if clock is Clock.TIMESTAMPS else f"{ticks} ticks"
