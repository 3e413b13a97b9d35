"""The order of the tuples of a derived stream, and the net effect of its negative tuples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.kernel.sweep.ordering import net, order_by, sort_lane, stable_order
from thalweg.kernel.sweep.segments import run_ends, run_starts


def order_of_stream(tuples: Batch, schema: Schema, pool: StringPool) -> Ints:
    """The positions that sort tuples by (ts, row), NULLs last: by definition the arrival order of a derived stream."""
    order = stable_order(tuples.start)
    starts = run_starts(tuples.start[order])
    for column, field in zip(tuples.columns, schema, strict=True):
        tied = np.flatnonzero(~(starts & run_ends(starts)))
        if not len(tied):
            break
        rows = order[tied]
        lane = sort_lane(column[rows], field.type, pool)
        inner = order_by(np.cumsum(starts, dtype=np.int64)[tied], lane)
        order[tied] = rows[inner]
        starts[tied] |= run_starts(lane[inner])
    return order


def net_tuples(tuples: Batch) -> Batch:
    """Sum up equal tuples; tuples of opposite signs cancel."""
    dates = () if tuples.dates is None else (tuples.dates.ts, tuples.dates.exp)
    rows, signs = net([*tuples.columns, tuples.start, tuples.end, *dates], tuples.sign.astype(np.int64))
    return replace(tuples.take(rows), sign=signs.astype(np.int8))
