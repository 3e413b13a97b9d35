"""The n-th alive tuple after each of many insertions and deletions, without a loop over the events."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints, Lane


def nth_alive(alive: Ints, place: Ints, delta: Ints, wanted: Ints) -> Ints:
    """After each event j the place of the wanted[j]-th alive tuple, counted from 1 in the order of places.

    At first `alive[p]` tuples are at place p; event j adds `delta[j]` to place[j]. No count may fall below zero, and
    wanted[j] must lie between 1 and the number of tuples after event j (otherwise the result for j is any place).

    All events descend one binary tree over the places at the same time. A node has its events in order of time (a
    wavelet matrix), so the number of tuples in a node's left half after event j is a difference of prefix sums.
    """
    bits = max(1, (len(alive) - 1).bit_length())
    base = np.full((1 << bits) + 1, alive.sum())
    base[: len(alive) + 1] = _prefix_sums(alive)
    low = np.zeros(len(place), dtype=np.int64)
    first = np.zeros(len(place), dtype=np.int64)  # the node's events up to event j are first .. past - 1
    past = np.arange(1, len(place) + 1)
    for half in (1 << bit for bit in reversed(range(bits))):
        in_left = (place & half) == 0
        lefts, gains = _prefix_sums(in_left), _prefix_sums(np.where(in_left, delta, 0))
        tuples = gains[past] - gains[first] + base[low + half] - base[low]
        right = wanted > tuples
        wanted = wanted - np.where(right, tuples, 0)
        low += right * half
        first, past = (np.where(right, lefts[-1] + at - lefts[at], lefts[at]) for at in (first, past))
        order = np.concatenate([np.flatnonzero(in_left), np.flatnonzero(~in_left)])
        place, delta = place[order], delta[order]
    return low


def _prefix_sums(values: Lane) -> Ints:
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
