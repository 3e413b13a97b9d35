"""The FIFO list of GolabOzsu2005 §5.3.2: for inputs whose tuples leave in the order of their arrival (WKS).

    runs, oldest first   [ 1 .. 9 ] [ 10 .. 19 ] [ 20 .. 24 ] [ 25 ]  <- arrivals
    expire               whole runs, from the front

It is also the append log of a monotonic input (MON), whose tuples never leave. A tuple that ends before an older one,
or that a negative tuple deletes, keeps its memory until the older ones leave. So the list does not suit count windows,
whose tuples are all ended by negative tuples.
"""

from __future__ import annotations

from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.run_list import RunList


class FifoBuffer(RunList, kind="fifo-buffer/1"):
    """Runs in order of arrival; whole runs leave at the front. At most about one run of ended tuples is kept."""

    def _drop_ended(self, now: Instant) -> None:
        ended = 0
        while ended < len(self._runs) and self._runs[ended].last_end <= now:
            ended += 1
        del self._runs[:ended]
