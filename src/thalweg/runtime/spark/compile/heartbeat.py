"""A source that brings nothing but the time: Spark runs no batch without data, and time passes without any.

Its offset is the number of a beat, so it remembers nothing else, however long a query is silent. The time is that of
the batch (`running_task.py`), the same if it is run again. A query without idle timeouts has no such source.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from thalweg.core.errors import DataError, PlanError
from thalweg.core.time import parse_duration
from thalweg.runtime.distributed.ingest.clock import InputTime

MOST_OFTEN = 100_000  # microseconds: a batch takes about as long
NEVER = 0


def interval(streams: Sequence[InputTime], asked: str | None) -> int | None:
    """How long a query may go without a batch, in microseconds: as asked, or half its shortest idle timeout."""
    timeouts = [stream.idle for stream in streams if stream.idle is not None]
    if asked is None:
        return max(min(timeouts) // 2, MOST_OFTEN) if timeouts else None
    if not timeouts:
        raise PlanError(
            f"a heartbeat of {asked} would change nothing: no stream of the query has an idle timeout",
            hint="give stream(...) an idle=, after which its time goes on by itself",
        )
    wanted = parse_duration(asked)
    if wanted < MOST_OFTEN:
        raise DataError(f"a heartbeat of {asked} is too fast", hint="100 milliseconds is as often as batches may come")
    return wanted


class HeartbeatSource(DataSource):
    """Spark's side of it; the option `micros` says how often it beats."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_heartbeat"

    def schema(self) -> str:
        """One row is a beat."""
        return "beat long"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader in the driver: a beat is not worth a process of its own."""
        return HeartbeatReader(int(self.options["micros"]))


class HeartbeatReader(SimpleDataSourceStreamReader, SupportsTriggerAvailableNow):
    """Beats `micros` after the batch of the last beat; never if that is NEVER, or if the query is to end."""

    clock: Callable[[], int] = staticmethod(time.monotonic_ns)

    def __init__(self, micros: int) -> None:
        self._micros = micros
        self._last = -1  # the number of the last beat, and since when it is known to be over
        self._since = 0

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name, like those below
        """Before the first beat."""
        return {"beat": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is there now holds no time that is still to pass."""
        self._micros = NEVER

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[int]], dict[str, int]]:
        """The next beat, if it is due. When a beat is over none is due yet, so there is always a pause to wait for."""
        now = self.clock() // 1_000
        if start["beat"] != self._last:
            self._last, self._since = start["beat"], now
        due = self._micros and now - self._since >= self._micros
        end = {"beat": self._last + 1} if due else start
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[tuple[int]]:  # noqa: N802
        """The same beats again."""
        return iter([(beat,) for beat in range(start["beat"], end["beat"])])
