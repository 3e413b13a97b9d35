"""Statistics that costs are computed from: of sources, by declaration or from a sample, and of sub-plans that ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.algebra.plan import Plan, RelationScan, StreamScan
from thalweg.algebra.statistics import SourceStatistics
from thalweg.core.lanes import Ints

# Where nothing is known. The absolute values cancel out between plans; what matters is that all streams are alike.
ASSUMED_RATE = 1.0  # rows per tick, or per second
ASSUMED_ROWS = 1000.0
ASSUMED_DISTINCT = 100.0


@dataclass(frozen=True)
class MeasuredOutput:
    """The measured output of a sub-plan: results per tick, and the share of results that were deleted early."""

    rate: float
    premature: float = 0.0


@dataclass(frozen=True)
class Statistics:
    """Statistics of sources by name, and measured outputs of sub-plans by their digest."""

    sources: Mapping[str, SourceStatistics] = field(default_factory=dict)
    measured: Mapping[str, MeasuredOutput] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known, so that costs rest on assumptions alone."""
        return not self.sources and not self.measured

    def of(self, name: str) -> SourceStatistics:
        """The statistics of a source; empty ones if nothing is known."""
        return self.sources.get(name, SourceStatistics(origin="assumed"))

    def over(self, other: Statistics) -> Statistics:
        """These statistics, completed from `other` where they say nothing."""
        names = {**other.sources, **self.sources}
        sources = {name: self.of(name).over(other.of(name)) for name in names}
        sources = {name: replace(s, origin=names[name].origin) for name, s in sources.items()}
        return Statistics(sources, {**other.measured, **self.measured})

    def as_json(self) -> dict[str, Any]:
        """The statistics as a checkpoint stores them."""
        return {
            "sources": {name: known.as_json() for name, known in self.sources.items()},
            "measured": {name: {"rate": m.rate, "premature": m.premature} for name, m in self.measured.items()},
        }

    @staticmethod
    def from_json(saved: Mapping[str, Any]) -> Statistics:
        """The inverse of `as_json`."""
        return Statistics(
            {name: SourceStatistics.from_json(known) for name, known in saved["sources"].items()},
            {name: MeasuredOutput(**known) for name, known in saved["measured"].items()},
        )


def declared(plans: Iterable[Plan]) -> Statistics:
    """The statistics that the declarations of the plans' sources give."""
    leaves = (leaf.source for plan in plans for leaf in plan.walk() if isinstance(leaf, StreamScan | RelationScan))
    return Statistics({source.name: source.statistics for source in leaves if source.statistics is not None})


def sampled_stream(rows: pa.Table, times: Ints) -> SourceStatistics:
    """Statistics of a stream from some of its rows; the rate is their number over the ticks from first to last."""
    span = int(times.max() - times.min()) if len(times) else 0
    rate = len(times) / span if span else None
    return SourceStatistics(rate, None, _distinct(rows, rows.num_rows), "sampled")


def sampled_table(rows: pa.Table, total: int) -> SourceStatistics:
    """Statistics of a table of `total` rows from some of its rows."""
    return SourceStatistics(None, total or None, _distinct(rows, total), "sampled")


def _distinct(rows: pa.Table, total: int) -> dict[str, float]:
    return {name: sampled_distinct(rows.column(name), total) for name in rows.column_names if rows.num_rows}


def sampled_distinct(sample: pa.ChunkedArray, total: int) -> float:
    """How many distinct values a column of `total` rows has, from a sample: the seen ones, and Chao's guess of others.

    d + f1 (f1 - 1) / (2 (f2 + 1)), where f1 values were seen once and f2 twice; at most one value per row.
    """
    seen = pc.value_counts(sample.combine_chunks().drop_null()).field("counts")
    once, twice = (pc.sum(pc.equal(seen, n)).as_py() or 0 for n in (1, 2))
    unseen = once * (once - 1) / (2 * (twice + 1)) if total > len(sample) or once < len(seen) else 0.0
    return float(min(max(1.0, len(seen) + unseen), max(total, 1)))
