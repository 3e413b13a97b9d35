"""How far a stream's time has come, and which rows are too late for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from thalweg.algebra.catalog import Stream
from thalweg.core.errors import OutOfOrderError
from thalweg.core.rows import Row
from thalweg.core.time import Instant


@dataclass
class StreamClock:
    """`now` = max(greatest ts seen - lateness, the instant advanced to): all before it has been seen.

    A row with ts = now is still welcome: an instant is complete once time has left it.
    """

    stream: Stream
    now: Instant | None = None
    late: list[tuple[Any, ...]] = field(default_factory=list)

    def accepts(self, ts: Instant) -> bool:
        """Whether a row of `ts` is not behind the clock."""
        return self.now is None or ts >= self.now

    def see(self, ts: Instant) -> None:
        """A row of `ts` has come."""
        self.advance(ts - (self.stream.lateness or 0))

    def advance(self, t: Instant) -> None:
        """Time has come to `t`; it never goes back."""
        self.now = t if self.now is None else max(self.now, t)

    def keep_late(self, row: Row) -> None:
        """A row that came too late is kept aside."""
        self.late.append(row)

    def refusal(self, ts: Instant) -> OutOfOrderError:
        """The error for a row behind the clock where no lateness is declared."""
        clock = self.stream.clock
        return OutOfOrderError(
            f"stream {self.stream.name} is at {clock.show(self.now or 0)}; a row of {clock.show(ts)} comes too late",
            hint=f"CREATE STREAM {self.stream.name} (...) LATENESS extent lets rows come late; others must be in order",
        )
