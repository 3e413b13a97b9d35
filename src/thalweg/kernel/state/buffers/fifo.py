"""The FIFO list of GolabOzsu2005 §5.3.2: for inputs whose tuples leave in the order in which they came (WKS).

    runs, oldest first   [ 1 .. 9 ] [ 10 .. 19 ] [ 20 .. 24 ] [ 25 ]  <- arrivals
    expire               whole runs, from the front

It is also the append log of a monotonic input, where nothing leaves. A tuple that ends before an older one, or is
deleted by a negative tuple, waits for the older ones to leave. So count windows, whose tuples end by negative tuples
alone, are not for this list: where equal rows come and go in one batch, the older one stays for the younger.
"""

from __future__ import annotations

from thalweg.core.time import Instant
from thalweg.kernel.state.buffers.run_list import RunList


class FifoBuffer(RunList, kind="fifo-buffer/1"):
    """Whole runs leave from the front: as much as one run may have ended unnoticed."""

    def _forget(self, now: Instant) -> None:
        ended = 0
        while ended < len(self._runs) and self._runs[ended].last_end <= now:
            ended += 1
        del self._runs[:ended]
