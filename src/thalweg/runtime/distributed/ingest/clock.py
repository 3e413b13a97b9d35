"""The clock (watermark) of a query over several inputs (docs: "Time").

    now = min over inputs of (greatest ts seen - lateness)

In a micro-batch every shard gets the same times of all inputs, so every shard computes the same `now`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful
from thalweg.runtime.distributed.ingest.quota import QUOTA, Quota


@dataclass(frozen=True)
class InputTime:
    """How late a tuple of an input may be, and after what silence the input's clock goes on alone.

    `idle` is in microseconds of the system's clock; None means that the query waits for a silent input. `quota` limits
    what is kept of rows that come too late or cannot be read.
    """

    lateness: int = 0
    idle: int | None = None
    quota: Quota = QUOTA


class StepTime(NamedTuple):
    """The query's clock before and after a micro-batch, and the system's clock as of it."""

    before: Instant
    after: Instant
    system: int


class QueryClock(Stateful, kind="query-clock/1"):
    """Never goes back. An input that has been silent for its idle time follows the system's clock from then on."""

    KEPT = ("now", "began", "_seen", "_heard", "_first")

    def __init__(self, inputs: Mapping[str, InputTime], stamped: bool) -> None:
        self._inputs, self._stamped = dict(inputs), stamped
        self.now: Instant = BEGINNING  # operators have got all tuples up to here
        self.began: Instant | None = None  # the first time that the clock showed
        self._seen: dict[str, int] = {}  # by input: the greatest ts
        self._heard: dict[str, int] = {}  # by input: when it last brought a tuple, by the system's clock
        self._first = 0  # when the query began, by the system's clock

    @property
    def latest(self) -> Instant | None:
        """The greatest ts seen on any input."""
        return max(self._seen.values(), default=None)

    def see(self, seen: Mapping[str, Instant], system: int) -> Instant:
        """Advance by the greatest ts that inputs have brought, as of `system`; the clock afterwards."""
        self._first = self._first or system
        for name, ts in seen.items():
            self._seen[name] = max(ts, self._seen.get(name, BEGINNING))
            self._heard[name] = system
        times = [self._time(name, system) for name in self._inputs]
        known = [time for time in times if time is not None]
        if known and len(known) == len(times) and min(known) < FOREVER:  # else all are silent: it stands still
            self.now = max(self.now, min(known))
        return self._noted()

    def _noted(self) -> Instant:
        if self.began is None and self.now > BEGINNING:
            self.began = self.now
        return self.now

    def advance(self, to: Instant) -> Instant:
        """Advance to an instant, unless the clock is there already."""
        self.now = max(self.now, to)
        return self._noted()

    def drain(self) -> Instant:
        """Advance to the greatest ts: no late tuples are waited for."""
        return self.advance(max(self._seen.values(), default=BEGINNING))

    def _time(self, name: str, system: int) -> Instant | None:
        """An input's own clock; None while it is not known, FOREVER if the query need not wait for it."""
        options = self._inputs[name]
        silence = system - self._heard.get(name, self._first)
        idle = options.idle is not None and silence > options.idle
        if name not in self._seen:
            return FOREVER if idle and self._seen else None
        time = self._seen[name] - options.lateness
        if not idle:
            return time
        return time + silence if self._stamped else FOREVER
