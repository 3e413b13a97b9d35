"""Tuples that wait to enter a window, in order, as immutable runs."""

from __future__ import annotations

from thalweg.core.batch import Batch

Waiting = tuple[Batch, ...]

# Longer runs are not merged, so that the cost of a batch does not grow with the number of waiting tuples.
_MERGE_UP_TO = 1 << 14


def wait(waiting: Waiting, more: Batch) -> Waiting:
    """Append tuples; short runs are merged, so that there are few."""
    if not len(more):
        return waiting
    while waiting and len(waiting[-1]) <= len(more) < _MERGE_UP_TO:
        more = Batch.concat([waiting[-1], more])
        waiting = waiting[:-1]
    return (*waiting, more)


def count_waiting(waiting: Waiting) -> int:
    """The number of waiting tuples."""
    return sum(map(len, waiting))
