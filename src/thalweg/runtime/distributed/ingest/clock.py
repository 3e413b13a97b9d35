"""What time it is for a query over several inputs (docs: "Time").

    now = min over inputs of (greatest ts seen - lateness)

Every shard is told the same about all inputs in the same micro-batch, so every shard comes to the same `now`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thalweg.core.time import BEGINNING, FOREVER, Instant
from thalweg.kernel.state.snapshot import Stateful


@dataclass(frozen=True)
class InputTime:
    """What is known about time on an input: how late a tuple may be, and after what silence its clock goes on alone.

    `idle` is in microseconds of the system's clock; None means that the input may keep everybody waiting.
    """

    lateness: int = 0
    idle: int | None = None


class QueryClock(Stateful, kind="query-clock/1"):
    """Never goes back. An input that has been silent for its idle time follows the system's clock from then on."""

    KEPT = ("now", "began", "_seen", "_heard", "_first")

    def __init__(self, inputs: Mapping[str, InputTime], stamped: bool) -> None:
        self._inputs, self._stamped = dict(inputs), stamped
        self.now: Instant = BEGINNING  # everything before has been told to the operators
        self.began: Instant | None = None  # what time it first was
        self._seen: dict[str, int] = {}  # by input: the greatest ts
        self._heard: dict[str, int] = {}  # by input: when it last brought a tuple, by the system's clock
        self._first = 0  # when the query began, by the system's clock

    @property
    def latest(self) -> Instant | None:
        """The greatest ts seen on any input."""
        return max(self._seen.values(), default=None)

    def see(self, seen: Mapping[str, Instant], system: int) -> Instant:
        """Tuples up to some ts have come on some inputs, at a time by the system's clock; the query's time now."""
        self._first = self._first or system
        for name, ts in seen.items():
            self._seen[name] = max(ts, self._seen.get(name, BEGINNING))
            self._heard[name] = system
        times = [self._time(name, system) for name in self._inputs]
        known = [time for time in times if time is not None]
        if known and len(known) == len(times) and min(known) < FOREVER:  # if all are silent nobody knows the time
            self.now = max(self.now, min(known))
        return self._noted()

    def _noted(self) -> Instant:
        if self.began is None and self.now > BEGINNING:
            self.began = self.now
        return self.now

    def advance(self, to: Instant) -> Instant:
        """Somebody says what time it is."""
        self.now = max(self.now, to)
        return self._noted()

    def drain(self) -> Instant:
        """Nothing more will come: lateness is over."""
        return self.advance(max(self._seen.values(), default=BEGINNING))

    def _time(self, name: str, system: int) -> Instant | None:
        """An input's own time; None while it is not known, FOREVER if it keeps nobody waiting."""
        options = self._inputs[name]
        silence = system - self._heard.get(name, self._first)
        idle = options.idle is not None and silence > options.idle
        if name not in self._seen:
            return FOREVER if idle and self._seen else None
        time = self._seen[name] - options.lateness
        if not idle:
            return time
        return time + silence if self._stamped else FOREVER
