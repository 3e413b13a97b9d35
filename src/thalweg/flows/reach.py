"""The reach of windows: which tuples of a stream a live query's window may still show."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.algebra.plan import Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import LogicalWindow, PartitionedRows, Rows, ValueRange, Window
from thalweg.core.batch import Batch
from thalweg.core.lanes import Flags, Ints, is_null
from thalweg.core.time import FOREVER, Instant
from thalweg.kernel.sweep.ordering import together
from thalweg.kernel.sweep.segments import rank_within


def streams_of(plan: Plan) -> set[str]:
    """The streams that a plan reads."""
    return {node.source.name for node in plan.walk() if isinstance(node, StreamScan)}


def windows_of(plan: Plan) -> Iterator[tuple[str, Window]]:
    """The windows of a plan, each with its stream.

    A window over a derived stream counts as a window over each stream below. A derived stream has other columns, so
    there PARTITION BY counts as plain ROWS, and a value window does not count.
    """
    for node in plan.walk():
        if isinstance(node, Windowed):
            is_base = isinstance(_selected(node.child), StreamScan)
            window = node.window if is_base else _without_columns(node.window)
            if window is not None:
                yield from ((leaf.source.name, window) for leaf in node.walk() if isinstance(leaf, StreamScan))


def _selected(plan: Plan) -> Plan:
    while isinstance(plan, Select):
        plan = plan.child
    return plan


def _without_columns(window: Window) -> Window | None:
    if isinstance(window, PartitionedRows):
        return Rows(window.count)
    return None if isinstance(window, ValueRange) else window


def reached(window: Window, tuples: Batch, now: Instant) -> Flags:
    """Which of the tuples, in order of arrival, the window may still show at or after `now`; none if it is unbounded.

    A tuple out of reach stays out of reach, so the rest of a stream has the same tuples within reach as the whole.
    """
    match window:
        case LogicalWindow():
            start, end = window.lifetimes(tuples.start)
            return (start < end) & (end > now) & (end < FOREVER)
        case Rows(count, slide):
            return np.arange(len(tuples)) >= len(tuples) - (count + slide - 1)
        case PartitionedRows(keys, count, range_):
            if range_ is None:
                return _last_of_each(tuples, keys, count)
            let_in = tuples.start <= range_.scope(now).last
            waiting, kept = ~let_in, np.flatnonzero(let_in)
            waiting[kept[_last_of_each(tuples.take(kept), keys, count)]] = True
            return waiting & reached(range_, tuples, now)
        case ValueRange(column, width):
            values = tuples.columns[column]
            known = ~is_null(values)
            greatest = values[known].max().item() if known.any() else 0
            return known & (values > greatest - width)
    return np.zeros(len(tuples), dtype=np.bool_)


def _last_of_each(tuples: Batch, keys: tuple[int, ...], count: int) -> Flags:
    """Which tuples are among the last `count` of their key."""
    last = np.zeros(len(tuples), dtype=np.bool_)
    if len(tuples):
        backwards: Ints = np.arange(len(tuples))[::-1]
        order, starts = together([tuples.columns[key][backwards] for key in keys])
        last[backwards[order[rank_within(starts) < count]]] = True
    return last
