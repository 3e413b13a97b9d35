"""Rows per second by the size of the window."""

from __future__ import annotations

from collections.abc import Callable

from thalweg_benchmarks.kernel.feeds import Keys, uniform, zipf
from thalweg_benchmarks.papers.claims import grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.scaling.running import AGGREGATE, DISTINCT, EXCEPT, JOIN, RATE, figure, throughput

WINDOWS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
CASES: dict[str, tuple[str, Callable[[int], Keys]]] = {
    "aggregate, 2,000 keys": (AGGREGATE, lambda _: zipf(2_000)),
    "distinct, 2,000 keys": (DISTINCT, lambda _: zipf(2_000)),
    "except, 2,000 keys": (EXCEPT, lambda _: zipf(2_000)),
    "join, ten partners": (JOIN, lambda window: uniform(max(1, window // 10))),
}


def _run(scale: Scale) -> FigureData:
    windows = scale.pick(WINDOWS, (1_000, 10_000))
    found = {
        name: {float(n): throughput(query, keys(n), n, scale) for n in windows} for name, (query, keys) in CASES.items()
    }
    return figure(found, [n // 10 for n in windows])


BY_WINDOW = Experiment(
    "scale-window",
    "rows per second by the size of the window",
    "What a tuple costs depends on what it changes, not on how long the window is: from a thousand tuples to ten "
    "million no query slows down by more than four times.",
    "One tuple of each stream in a tick, in batches of 25,000 ticks, in the kernel on one core. Keys by Zipf's law "
    "with exponent 0.8; the join's keys are a tenth of the window, so that a tuple always has ten partners.",
    Axis("tuples in the window", log=True),
    RATE,
    _run,
    tuple(
        grows(
            name,
            f"{name}: at the largest window at least a quarter of the smallest one's rate",
            least=0.25,
            why="with a million keys and more, tables by key outgrow the processor's caches"
            if name.startswith("join")
            else "",
        )
        for name in CASES
    ),
    {
        "aggregate, 2,000 keys": "a tuple changes its group when it comes and when it goes, however long it stays",
        "distinct, 2,000 keys": "in 10,000 tuples rare keys come and go; in 100,000 every key always has one, and "
        "nothing changes",
        "except, 2,000 keys": "for the same reason",
        "join, ten partners": "there are a tenth as many keys as tuples, and their tables outgrow the caches",
    },
)
