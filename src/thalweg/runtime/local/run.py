"""How a standing query is evaluated: what the local engine asks of any way to do it."""

from __future__ import annotations

from typing import Protocol

from thalweg.core.rows import Bag, Change, Row
from thalweg.core.time import Instant
from thalweg.kernel.pipeline.metrics import OperatorMetrics, OutputDelay


class Run(Protocol):
    """A query at work. It is told everything that happens, and asked for answers up to its clock."""

    def arrive(self, stream: str, ts: Instant, row: Row) -> None:
        """A tuple of a stream; in order of time unless the stream declares a lateness."""

    def table_changed(self, relation: str, t: Instant, sign: int, row: Row) -> None:
        """A table gains (+1) or loses (-1) a row at t."""

    def answer(self, t: Instant, now: Instant) -> Bag:
        """Q(t), for t up to the clock `now`."""

    def metrics(self) -> list[OperatorMetrics]:
        """What each operator has done, from the sources to the answer."""

    @property
    def delay(self) -> OutputDelay:
        """How late the answer has followed what happened."""

    def changes(self, now: Instant, first: Instant) -> list[Change]:
        """What changed since the last call, up to and at `now`; nothing is dated before `first`."""
