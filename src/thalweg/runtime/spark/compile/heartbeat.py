"""A source of heartbeats: Spark runs no batch without data, but the clock must advance even if no row comes.

Its offset is the number of a beat, so it stores nothing else, however long a query is silent. The time of a beat is
that of its batch (`running_task.py`), and stays the same if the batch is run again. A query without idle timeouts has
no such source.
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

SHORTEST_INTERVAL = 100_000  # microseconds: a batch takes about as long
NEVER = 0


def interval(streams: Sequence[InputTime], asked: str | None) -> int | None:
    """The longest time between two batches, in microseconds: as asked, or half the shortest idle timeout."""
    timeouts = [stream.idle for stream in streams if stream.idle is not None]
    if asked is None:
        return max(min(timeouts) // 2, SHORTEST_INTERVAL) if timeouts else None
    if not timeouts:
        raise PlanError(
            f"a heartbeat of {asked} would change nothing: no stream of the query has an idle timeout",
            hint="give stream(...) an idle=, after which the stream's time follows the system's clock",
        )
    wanted = parse_duration(asked)
    if wanted < SHORTEST_INTERVAL:
        raise DataError(f"a heartbeat of {asked} is too fast", hint="ask for 100 milliseconds or more")
    return wanted


class HeartbeatSource(DataSource):
    """Spark's data source; the option `micros` is the time between two beats."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "thalweg_heartbeat"

    def schema(self) -> str:
        """One row is a beat."""
        return "beat long"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader in the driver, since beats need no process of their own."""
        return HeartbeatReader(int(self.options["micros"]))


class HeartbeatReader(SimpleDataSourceStreamReader, SupportsTriggerAvailableNow):
    """Beats `micros` after the batch of the last beat; never if `micros` is NEVER, or under availableNow."""

    clock: Callable[[], int] = staticmethod(time.monotonic_ns)

    def __init__(self, micros: int) -> None:
        self._micros = micros
        self._last = -1  # the number of the last beat
        self._since = 0  # when this reader first saw that the batch of that beat was done

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name, like those below
        """Before the first beat."""
        return {"beat": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """With availableNow, send no further beats."""
        self._micros = NEVER

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[int]], dict[str, int]]:
        """The next beat, if it is due. No beat is due right after another, so `processAllAvailable` returns."""
        now = self.clock() // 1_000
        if start["beat"] != self._last:
            self._last, self._since = start["beat"], now
        due = self._micros and now - self._since >= self._micros
        end = {"beat": self._last + 1} if due else start
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[tuple[int]]:  # noqa: N802
        """The same beats again."""
        return iter([(beat,) for beat in range(start["beat"], end["beat"])])
