"""The line of progress of a running query."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from thalweg.core.errors import DataError
from thalweg.core.time import Clock
from thalweg.runtime.spark.api.run import Run

_LIVE_WITHIN = 10 * 60 * 10**6  # a stream is live if its latest tuple is no older than this, in microseconds


@dataclass
class Progress:
    """The progress of a run, as a line under the query's name."""

    name: str
    run: Run

    @property
    def batch(self) -> int:
        """The last batch that is done."""
        return self.run.checkpoint.committed

    def line(self) -> str:
        """Batch, time, rows per second, delay, state and rows in side outputs."""
        try:
            metrics = self.run.metrics()
        except DataError:
            return f"{self.name}: waiting for the first rows"
        parts = [f"{self.name}: batch {metrics['batch']}", f"at {metrics['now']}"]
        rate = metrics["rows_per_second"]
        parts.append("- rows/s" if rate is None else f"{rate:,.0f} rows/s")
        delay = self._delay(metrics)
        parts += [] if delay is None else [f"delay {delay}"]
        parts.append(f"{metrics['stored'] + metrics['waiting']:,} tuples held")
        side: dict[str, int] = {}
        for kind, count in metrics["side_outputs"].items():
            word = kind.partition(" ")[0]
            side[word] = side.get(word, 0) + count
        parts += [f"{side.get('late', 0):,} late"] + ([f"{side['bad']:,} bad rows"] if side.get("bad") else [])
        return ", ".join(parts)

    def _delay(self, metrics: dict[str, Any]) -> str | None:
        """How far the answer is behind the system's clock if the stream is live, else behind the latest tuple."""
        latest, clock = self.run.latest, self.run.clock
        if latest is None:
            return None
        system = time.time_ns() // 1_000
        live = clock is Clock.TIMESTAMPS and abs(system - latest) < _LIVE_WITHIN
        ticks = max(0, (system if live else latest) - self.run.now)
        return f"{ticks / 1e6:.1f} s" if clock is Clock.TIMESTAMPS else f"{ticks} ticks"
