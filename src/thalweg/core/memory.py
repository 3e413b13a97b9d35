"""Lets the process keep memory that it has freed, for the next batch."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # numbers of these options of glibc's mallopt
_KEEP_FREED_BYTES = 128 << 20
_KEEP_BLOCKS_UP_TO_BYTES = 32 << 20  # glibc's maximum; it returns larger blocks to the system at once


def keep_freed() -> None:
    """Let this process keep up to 128 MiB of freed memory, if the C library is glibc.

    Otherwise glibc returns arrays of some hundred kilobytes to the system after each use, and the system clears the
    next ones page by page: up to half the time of a join of windows that fit into a cache.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _KEEP_BLOCKS_UP_TO_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEEP_FREED_BYTES)
