"""Orders that windows need: keys together, tuples of a derived stream by (ts, row), and what is left of equal ones."""

from __future__ import annotations

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints, Lane, identity, sortable
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.operators.segments import run_ends, run_starts

_DIGIT = 16


def order_of_codes(codes: Ints) -> Ints:
    """A stable argsort of codes from 0 to 2^32 - 1 by radix: NumPy sorts 16-bit integers in linear time."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    high = codes >> _DIGIT
    return order[np.argsort(high[order].astype(np.uint16), kind="stable")] if high.any() else order


def order_of_stream(tuples: Batch, schema: Schema, pool: StringPool) -> Ints:
    """Positions by (ts, row), NULLs last: the order of arrival that a derived stream has by definition."""
    order = np.argsort(tuples.start, kind="stable")
    starts = run_starts(tuples.start[order])
    for column, field in zip(tuples.columns, schema, strict=True):
        tied = np.flatnonzero(~(starts & run_ends(starts)))
        if not len(tied):
            break
        rows, groups = order[tied], np.cumsum(starts, dtype=np.int64)[tied]
        lane = _nulls_last(sortable(column[rows], field.type, pool))
        inner = np.argsort(lane, kind="stable")
        inner = inner[order_of_codes(groups[inner])]  # by group, then by value
        order[tied] = rows[inner]
        starts[tied] |= run_starts(identity(lane[inner]))
    return order


def net(tuples: Batch) -> Batch:
    """Equal tuples summed up: what is left of each, as positive or negative tuples. Equal inputs stay in order."""
    lanes = [*map(identity, tuples.columns), tuples.start, tuples.end]
    if tuples.dates is not None:
        lanes += [tuples.dates.ts, tuples.dates.exp]
    order = np.lexsort(lanes)
    starts = run_starts(*(lane[order] for lane in lanes))
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(starts) - 1
    sums = np.bincount(run, weights=tuples.sign).astype(np.int64)
    kept = np.sort(order[starts])  # the first of each, as lexsort is stable
    left = sums[run[kept]]
    result = tuples.take(np.repeat(kept, np.abs(left)))
    result.sign[:] = np.repeat(np.sign(left), np.abs(left))
    return result


def _nulls_last(lane: Lane) -> Lane:
    """NaN sorts last by itself; one less takes the NULL of integers round to the greatest."""
    return lane if lane.dtype == np.float64 else lane - np.int64(1)
