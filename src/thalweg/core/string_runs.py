"""The saved strings of a pool: immutable runs of (places, lengths, UTF-8), of which a snapshot adds one.

A later run says what a place holds if several runs name it. Runs are merged geometrically, without strings that have
been forgotten; all runs become one when more than half of their strings have been. So a string is written a logarithmic
number of times, consecutive snapshots share what has not changed, and they are at most twice as large as the strings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thalweg.core.byte_strings import ByteStrings
from thalweg.core.runs import Run

Codes = npt.NDArray[np.int64]

_MOST_BYTES = 1 << 30  # of one run, unless it is one string: arrays of files should not become too large
_FEW = 1024


class StringRuns:
    """The runs of the last snapshot, and which places they hold."""

    def __init__(self, type_: pa.DataType, runs: Sequence[Run] = ()) -> None:
        """`type_` is Arrow's type of the strings: large strings, or large binary."""
        self._type = type_
        self._runs = list(runs)
        self._saved = np.zeros(16, dtype=np.bool_)  # by place, whether its string is in a run

    def forget(self, places: Codes) -> None:
        """The strings at some places are no more."""
        self._fit(int(places.max(initial=-1)) + 1)
        self._saved[places] = False

    def save(self, used: Codes, strings: Callable[[Codes], pa.Array]) -> list[Run]:
        """The runs of all strings, given the places in use, ascending; `strings` gives those at some places."""
        self._fit(int(used[-1]) + 1 if len(used) else 0)
        if sum(len(run[0]) for run in self._runs) > 2 * len(used) + _FEW:
            self._runs, new = [], used
        else:
            new = used[~self._saved[used]]
        if len(new):
            self._runs += _runs(new, strings(new))
            self._merge(used)
            self._saved[new] = True
        return list(self._runs)

    def read(self, size: int, free: Codes) -> tuple[Codes, pa.Array]:
        """The places below `size` that are not free, and their strings."""
        latest = np.full(max([size, *(int(run[0].max()) + 1 for run in self._runs)]), -1)
        starts, lengths, texts, before, count = [], [], [], 0, 0
        for places, length, text in self._runs:
            latest[places] = np.arange(count, count + len(places))
            starts.append(before + np.cumsum(length) - length)
            lengths.append(length)
            texts.append(text)
            count, before = count + len(places), before + len(text)
        latest[free] = -1
        places = np.flatnonzero(latest[:size] >= 0)  # forgotten strings may have had greater places
        self._fit(len(latest))
        self._saved[places] = True
        if not count:
            return places, pa.array([], self._type)
        whole = pa.py_buffer(texts[0] if len(texts) == 1 else np.concatenate(texts))
        bounds = np.append(np.concatenate(starts), before)
        array = pa.Array.from_buffers(self._type, count, [None, pa.py_buffer(bounds), whole])
        return places, array.take(pa.array(latest[places]))

    def _merge(self, used: Codes) -> None:
        """Merge the youngest runs while the older is at most twice as long as the younger."""
        is_used = np.zeros(len(self._saved), dtype=np.bool_)
        is_used[used] = True
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            older, younger = self._runs[-2:]
            if len(older[2]) + len(younger[2]) > _MOST_BYTES:
                return
            is_used[younger[0]] = False  # the younger run says what these hold
            self._runs[-2:] = [_joined(older, is_used[older[0]], younger)]

    def _fit(self, size: int) -> None:
        if size > len(self._saved):
            self._saved = np.pad(self._saved, (0, max(size, 2 * len(self._saved)) - len(self._saved)))


def _runs(places: Codes, array: pa.Array) -> list[Run]:
    """Strings as runs, of limited sizes."""
    strings = ByteStrings.of(array)
    ends = np.cumsum(strings.length)
    cuts = [0]
    while cuts[-1] < len(places):
        before = int(ends[cuts[-1]] - strings.length[cuts[-1]])
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, before + _MOST_BYTES, side="right"))))
    found: list[Run] = []
    for first, last in pairwise(cuts):
        begin, end = int(strings.start[first]), int(ends[last - 1])
        found.append((places[first:last].copy(), strings.length[first:last].copy(), strings.data[begin:end].copy()))
    return found


def _joined(older: Run, kept: npt.NDArray[np.bool_], younger: Run) -> Run:
    places, lengths, text = older
    if not kept.all():
        bytes_kept = np.repeat(kept, lengths)
        places, lengths, text = places[kept], lengths[kept], text[bytes_kept]
    return tuple(np.concatenate(both) for both in zip((places, lengths, text), younger, strict=True))
