"""The baseline of PatroumpasSellis2011 §6.3: a count-window join that removes results by negative tuples.

The join probes with a leaving tuple again to find its results. Results are in lists by join key; each result to be
removed is found by a scan of its key's list from the front.
"""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np

from thalweg.core.lanes import Ints

Events = tuple[Ints, Ints]  # the results that came and those that went, each as left << 32 | right

_SHORT = 1_000  # results: up to here a Python list is scanned faster than an array


class ResultList(Protocol):
    """The results of a key."""

    def extend(self, results: list[int], /) -> None:
        """Append results."""

    def remove(self, result: int, /) -> None:
        """Scan for a result from the front, and remove it."""


class LongList:
    """A list of many integers, scanned a piece at a time; the last one moves into the place of a removed one."""

    def __init__(self, results: Ints, piece: int = 4_096) -> None:
        self._entries = np.concatenate([results, np.empty(len(results) // 4 + 1_000, dtype=np.int64)])
        self._count, self._piece = len(results), piece

    def extend(self, results: list[int]) -> None:
        """Append results."""
        count = self._count + len(results)
        if count > len(self._entries):
            self._entries = np.concatenate([self._entries, np.empty(count, dtype=np.int64)])
        self._entries[self._count : count] = results
        self._count = count

    def remove(self, result: int) -> None:
        """Scan for a result from the front, and remove it."""
        for first in range(0, self._count, self._piece):
            piece = self._entries[first : min(first + self._piece, self._count)]
            found = int((piece == result).argmax())
            if piece[found] == result:
                self._count -= 1
                piece[found] = self._entries[self._count]
                return
        raise ValueError("no such result")


class NegativeTupleJoin:
    """The join, a tuple at a time, starting with full windows.

    Windows and results are lists by key. Keys that no tuple of the sample has are left out, as nothing touches them.
    """

    def __init__(self, keys: tuple[Ints, Ints], window: int, sample: range) -> None:
        self._keys, self._window, self._sample = keys, window, sample
        at = np.arange(sample.start, sample.stop)
        touched = np.unique(np.concatenate([side[ticks] for side in keys for ticks in (at, at - window)]))
        first = sample.start - window
        self._sides: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        for own, drawn in zip(self._sides, keys, strict=True):
            held = drawn[first : sample.start]
            order = np.argsort(held, kind="stable")
            starts, stops = (np.searchsorted(held[order], touched, side) for side in ("left", "right"))
            for key, a, b in zip(touched.tolist(), starts.tolist(), stops.tolist(), strict=True):
                own[key] = (order[a:b] + first).tolist()
        self._results = {key: self._listed(key) for key in touched.tolist()}
        self._came: list[int] = []
        self._went: list[int] = []

    def _listed(self, key: int) -> ResultList:
        """All results of a key, oldest first."""
        left, right = (np.array(side[key], dtype=np.int64) for side in self._sides)
        pairs = ((left[:, None] << 32) | right[None, :]).ravel()
        came = np.maximum(left[:, None], right[None, :]).ravel()
        pairs = pairs[np.argsort(came, kind="stable")]
        return LongList(pairs) if len(pairs) > _SHORT else pairs.tolist()

    def run(self) -> float:
        """Seconds for the sample's ticks; in each, the oldest tuples leave both sides, then the new ones arrive."""
        left, right = (side.tolist() for side in self._keys)
        began = time.perf_counter()
        for tick in self._sample:
            old = tick - self._window
            self._leave(0, left[old])
            self._leave(1, right[old])
            self._arrive(0, left[tick], tick)
            self._arrive(1, right[tick], tick)
        return time.perf_counter() - began

    def _leave(self, side: int, key: int) -> None:
        number = self._sides[side][key].pop(0)
        results = self._results[key]
        matching = self._matching(side, key, number)
        for result in matching:
            results.remove(result)
        self._went += matching

    def _arrive(self, side: int, key: int, number: int) -> None:
        matching = self._matching(side, key, number)
        self._results[key].extend(matching)
        self._sides[side][key].append(number)
        self._came += matching

    def _matching(self, side: int, key: int, number: int) -> list[int]:
        """The results of a tuple and the other side's tuples with its key."""
        others = self._sides[1 - side][key]
        return [other << 32 | number for other in others] if side else [number << 32 | other for other in others]

    def events(self) -> Events:
        """The results that came and went, sorted."""
        return np.sort(np.array(self._came, dtype=np.int64)), np.sort(np.array(self._went, dtype=np.int64))
