"""Array idioms: positions of slices, runs of equal values in sorted lanes, sums within runs."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Flags, Ints, Lane

_LONG_RUN_ROWS = 4  # on average


def slices_to_rows(first: Ints, count: Ints) -> Ints:
    """All positions of slices: first[0], first[0]+1, ... (count[0] of them), first[1], ..."""
    after = count.cumsum()
    places: Ints = (first - after + count).repeat(count)
    places += np.arange(len(places))
    return places


def run_starts(*sorted_lanes: Lane) -> Flags:
    """Where a new run of equal values begins; rows with equal values must be neighbours."""
    rows = len(sorted_lanes[0])
    starts = np.ones(rows, dtype=np.bool_)
    if rows:
        starts[1:] = np.logical_or.reduce([lane[1:] != lane[:-1] for lane in sorted_lanes])
    return starts


def run_ends(starts: Flags) -> Flags:
    """The last row of each run, given the first rows."""
    return np.append(starts[1:], True) if len(starts) else starts


def sums_within(values: Lane, starts: Flags) -> Lane:
    """Running sums that restart with each run."""
    total = np.cumsum(values)
    first = np.flatnonzero(starts)
    offset = total[first] - values[first]
    sums: Lane = total - np.repeat(offset, np.diff(np.append(first, len(values))))
    return sums


def rank_within(starts: Flags) -> Ints:
    """The rank of each row within its run: 0, 1, 2 ..."""
    first = np.flatnonzero(starts)
    return np.arange(len(starts)) - np.repeat(first, np.diff(np.append(first, len(starts))))


def run_sums(values: Lane, starts: Flags) -> Lane:
    """The sum of each run."""
    first = np.flatnonzero(starts)
    sums: Lane = np.add.reduceat(values, first) if len(first) else values
    return sums


def long_runs(*lanes: Lane) -> Ints | None:
    """The first rows of runs of equal rows, if runs are long on average; None if merging them would not pay."""
    if len(lanes[0]) < _LONG_RUN_ROWS:
        return None
    first = np.flatnonzero(run_starts(*lanes))
    return first if _LONG_RUN_ROWS * len(first) <= len(lanes[0]) else None
