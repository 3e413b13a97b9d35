"""Tuples that have arrived but are not let in yet, in order, as immutable runs."""

from __future__ import annotations

from thalweg.core.batch import Batch

Waiting = tuple[Batch, ...]

# Runs of this size are not merged any more: the cost per batch must not grow with what waits.
_LARGE = 1 << 14


def wait(waiting: Waiting, more: Batch) -> Waiting:
    """More tuples behind those that wait; small runs are merged so that they stay few."""
    if not len(more):
        return waiting
    while waiting and len(waiting[-1]) <= len(more) < _LARGE:
        more = Batch.concat([waiting[-1], more])
        waiting = waiting[:-1]
    return (*waiting, more)


def count_waiting(waiting: Waiting) -> int:
    """How many wait."""
    return sum(map(len, waiting))
