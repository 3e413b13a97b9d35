"""Snapshots of an array that changes in place: an immutable base, and immutable runs of later changes.

    array = base, then array[places] = values for each run, the oldest first

Tables by code are such arrays, because their entries change too often to be kept as runs. A snapshot adds one run with
the entries that changed since the previous snapshot. Runs are merged geometrically, and a new base is saved when the
runs hold half as many entries as the array. So an entry is saved a logarithmic number of times, and consecutive
snapshots share the arrays that did not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import Run

SavedArray = dict[str, Any]  # base, runs, shape

_SAVE_WHOLE_UP_TO = 256  # entries


class ArrayLog:
    """The saved base and runs of one array, and a copy of the array as of the last snapshot."""

    def __init__(self) -> None:
        self._base: Lane | None = None
        self._runs: list[Run] = []
        self._last: Lane = np.empty(0)

    def save(self, array: Lane) -> SavedArray:
        """A snapshot of the array. Later changes of the array do not change the snapshot."""
        if self._base is None or not self._add_changes(array):
            self._base, self._runs = _fixed(array.copy()), []
            self._last = self._base
        return {"base": self._base, "runs": tuple(self._runs), "shape": tuple(array.shape)}

    @classmethod
    def read(cls, saved: SavedArray) -> tuple[ArrayLog, Lane]:
        """A saved array as a new writable array, and a log that continues from the snapshot."""
        log = cls()
        log._base, log._runs = saved["base"], list(saved["runs"])
        array = np.zeros(saved["shape"], dtype=saved["base"].dtype)
        flat = array.reshape(-1)
        flat[: saved["base"].size] = saved["base"].reshape(-1)
        for places, values in log._runs:
            flat[places] = values
        log._last = array.copy()
        return log, array

    def _add_changes(self, array: Lane) -> bool:
        """Add a run of the entries that changed, if any; return False if the whole array should be saved instead."""
        last = self._last
        if last.dtype != array.dtype or last.shape[1:] != array.shape[1:] or array.size < last.size:
            return False
        flat, before = _bits(array.reshape(-1)), _bits(last.reshape(-1))
        places = np.flatnonzero(flat[: before.size] != before)
        if before.size < flat.size:
            places = np.append(places, np.arange(before.size, flat.size))
        if not len(places):
            return True
        saved = sum(len(run[0]) for run in self._runs)
        if array.size <= _SAVE_WHOLE_UP_TO or 2 * (saved + len(places)) > array.size:
            return False
        self._runs = _with_changes(self._runs, (_fixed(places), _fixed(array.reshape(-1)[places])))
        if last.size < array.size or last is self._base:
            self._last = array.copy()
        else:
            last.reshape(-1)[places] = array.reshape(-1)[places]
        return True


def _with_changes(runs: list[Run], run: Run) -> list[Run]:
    """Append a run, then merge the last two runs while the older is at most twice as long as the younger."""
    grown = [*runs, run]
    while len(grown) > 1 and len(grown[-2][0]) <= 2 * len(grown[-1][0]):
        grown[-2:] = [_merged(*grown[-2:])]
    return grown


def _merged(older: Run, younger: Run) -> Run:
    """Both runs as one; where both have a value for a place, the younger value counts."""
    places: Ints = np.concatenate([younger[0], older[0]])
    values = np.concatenate([younger[1], older[1]])
    places, first = np.unique(places, return_index=True)
    return _fixed(places), _fixed(values[first])


def _bits(flat: Lane) -> Lane:
    """Integers that are equal iff the bits are: NaN equals NaN, but 0.0 differs from -0.0."""
    return flat.view(np.int64) if flat.dtype == np.float64 else flat


def _fixed(array: Lane) -> Lane:
    array.flags.writeable = False
    return array
