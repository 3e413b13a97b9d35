"""An array that is changed in place, told as immutable runs: what it was once, and what has changed since.

    array = base, then array[places] = values for each run, the oldest first

Tables by code are arrays, for their entries change far too often to be runs themselves. A snapshot of one tells only
the entries that are new since the snapshot before. Runs are merged geometrically, and when they have told as much as
half of the array it is told anew as a whole; so an entry is written down a logarithmic number of times, and what a
snapshot and those before it share are the very same arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.core.lanes import Ints, Lane
from thalweg.core.runs import Run

Told = dict[str, Any]

# So short an array is told anew whenever it has changed.
_SHORT = 256


class ArrayLog:
    """The runs of one array, and a copy of it as last told."""

    def __init__(self) -> None:
        self._base: Lane | None = None
        self._runs: list[Run] = []
        self._last: Lane = np.empty(0)

    def tell(self, array: Lane) -> Told:
        """The array now; later changes of it do not change what has been told."""
        if self._base is None or not self._add_changes(array):
            self._base, self._runs = _fixed(array.copy()), []
            self._last = self._base
        return {"base": self._base, "runs": tuple(self._runs), "shape": tuple(array.shape)}

    @classmethod
    def read(cls, told: Told) -> tuple[ArrayLog, Lane]:
        """An array as it was told, free to be changed, and a log that goes on from there."""
        log = cls()
        log._base, log._runs = told["base"], list(told["runs"])
        array = np.zeros(told["shape"], dtype=told["base"].dtype)
        flat = array.reshape(-1)
        flat[: told["base"].size] = told["base"].reshape(-1)
        for places, values in log._runs:
            flat[places] = values
        log._last = array.copy()
        return log, array

    def _add_changes(self, array: Lane) -> bool:
        """One run more if the array has changed; False if it is better told as a whole."""
        last = self._last
        if last.dtype != array.dtype or last.shape[1:] != array.shape[1:] or array.size < last.size:
            return False
        flat, before = _bits(array.reshape(-1)), _bits(last.reshape(-1))
        places = np.flatnonzero(flat[: before.size] != before)
        if before.size < flat.size:
            places = np.append(places, np.arange(before.size, flat.size))
        if not len(places):
            return True
        told = sum(len(run[0]) for run in self._runs)
        if array.size <= _SHORT or 2 * (told + len(places)) > array.size:
            return False
        self._runs = _with_changes(self._runs, (_fixed(places), _fixed(array.reshape(-1)[places])))
        if last.size < array.size or last is self._base:
            self._last = array.copy()
        else:
            last.reshape(-1)[places] = array.reshape(-1)[places]
        return True


def _with_changes(runs: list[Run], run: Run) -> list[Run]:
    """A log with one more run; the youngest are merged while the older is not much larger."""
    grown = [*runs, run]
    while len(grown) > 1 and len(grown[-2][0]) <= 2 * len(grown[-1][0]):
        grown[-2:] = [_merged(*grown[-2:])]
    return grown


def _merged(older: Run, younger: Run) -> Run:
    """Of a place that both tell the younger value counts."""
    places: Ints = np.concatenate([younger[0], older[0]])
    values = np.concatenate([younger[1], older[1]])
    places, first = np.unique(places, return_index=True)
    return _fixed(places), _fixed(values[first])


def _bits(flat: Lane) -> Lane:
    """What tells apart every two values, NaN and NaN or 0.0 and -0.0 too."""
    return flat.view(np.int64) if flat.dtype == np.float64 else flat


def _fixed(array: Lane) -> Lane:
    array.flags.writeable = False
    return array
