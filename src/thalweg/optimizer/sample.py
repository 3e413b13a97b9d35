"""Statistics of a source from some of its rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.lanes import Ints


def sampled_stream(rows: pa.Table, times: Ints) -> SourceStatistics:
    """Of a stream: the rate is rows over the time from the first to the last, in ticks."""
    span = int(times.max() - times.min()) if len(times) else 0
    rate = len(times) / span if span else None
    return SourceStatistics(rate, None, _distinct(rows, rows.num_rows), "sampled")


def sampled_table(rows: pa.Table, total: int) -> SourceStatistics:
    """Of a table with `total` rows."""
    return SourceStatistics(None, total or None, _distinct(rows, total), "sampled")


def _distinct(rows: pa.Table, total: int) -> dict[str, float]:
    return {name: distinct_values(rows.column(name), total) for name in rows.column_names if rows.num_rows}


def distinct_values(sample: pa.ChunkedArray, total: int) -> float:
    """How many values a column has, from a sample: those seen, and the unseen ones that Chao's rule expects.

    d + f1 (f1 - 1) / (2 (f2 + 1)), with f1 and f2 the values seen once and twice; at most one per row.
    """
    seen = pc.value_counts(sample.combine_chunks().drop_null()).field("counts")
    once, twice = (pc.sum(pc.equal(seen, n)).as_py() or 0 for n in (1, 2))
    unseen = once * (once - 1) / (2 * (twice + 1)) if total > len(sample) or once < len(seen) else 0.0
    return float(min(max(1.0, len(seen) + unseen), max(total, 1)))
