"""Memory that operators work in, kept between batches."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names that glibc's mallopt has for them
_KEPT = 128 << 20
_LARGE = 32 << 20  # glibc takes no more; what is larger than that goes back at once


def keep_freed() -> None:
    """Let this process keep up to 128 MiB that it has freed, where the C library can.

    Otherwise glibc hands vectors of some hundred kilobytes back after each use, and the kernel clears the next ones
    page by page: up to half the time of a join of windows that fit into a cache.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _KEPT)
