"""Hash tables against nested loops, four windows, two tuples of a value in each (GolabOzsu2003 §6.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thalweg.kernel.pipeline import Settings
from thalweg_benchmarks.joins.workload import Workload, measure_all
from thalweg_benchmarks.result import Result

FASTER = 5.0  # times as fast at windows of AT tuples
AT = 1_000
WINDOWS = (250, 1_000, 4_000)
GROWS = 1.0  # of the ratio, from a window to one four times as large: it must grow
BATCH = 8_000


def methods(windows: Sequence[int] = WINDOWS, batch: int = BATCH, rounds: int = 10) -> Iterator[Result]:
    """The speed-up of hash tables over nested loops, and its growth with the window."""
    ratios = []
    for window in windows:
        workload = Workload(((1, window, window // 2),) * 4)
        approaches = [(workload.join(), Settings(join=method)) for method in ("hash", "nested-loops")]
        hashed, scanned = measure_all(workload, approaches, batch=batch, batches=1, rounds=rounds)
        ratios.append(scanned.seconds / hashed.seconds)
        detail = {
            "microseconds": round(hashed.seconds * 1e6, 2),
            "nested_loops_microseconds": round(scanned.seconds * 1e6, 2),
            "comparisons": round(hashed.comparisons),
            "nested_loops_comparisons": round(scanned.comparisons),
        }
        target = FASTER if window == AT else None
        case = f"four windows of {window:,} tuples, {window // 2:,} values: nested loops / hash"
        yield Result(case, ratios[-1], target, at_least=True, detail=detail)
    for before, after, small, large in zip(ratios, ratios[1:], windows, windows[1:], strict=False):
        yield Result(f"the same, from {small:,} to {large:,} tuples", after / before, GROWS, at_least=True)
