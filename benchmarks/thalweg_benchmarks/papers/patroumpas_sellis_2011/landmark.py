"""Figures 12 and 13: operators over landmark windows, which keep every tuple."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from thalweg.core.batch import Batch
from thalweg.core.time import FOREVER
from thalweg_benchmarks.papers.claims import alike, below_at_end, grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Points, Scale
from thalweg_benchmarks.papers.patroumpas_sellis_2011.running import (
    DISTINCT,
    FEW,
    JOIN,
    MAX,
    QUERIES,
    RATE,
    SUM,
    WORKLOAD,
    Alone,
)
from thalweg_benchmarks.papers.trace import trace

CYCLES = 30
SHOWN = 5  # cycles between two points
_LANES = 2  # of a stored result besides its columns: start and end

_LANDMARK = f"{WORKLOAD} The landmark is the beginning: the window grows by 10,000 tuples a cycle."
STATE = Axis("tuples in a window")

LOOKED_UP = (
    "each tuple still costs finding its value or group in a table and sorting the batch by it, about 0.2 µs, and a "
    "joined tuple costs no more than 0.1 µs to make over columns; the ratio grows with the window"
)


@lru_cache(maxsize=2)
def _measured(scale: Scale) -> tuple[Points, Points]:
    """For each operator, cumulative milliseconds and megabytes of results, by the tuples in the window."""
    rate = scale.pick(RATE, FEW)
    times: Points = {name: {} for name in QUERIES}
    sizes: Points = {name: {} for name in QUERIES}
    for name, query in QUERIES.items():
        alone, seconds, results = Alone(query, "[RANGE UNBOUNDED]", scale, rate), 0.0, 0
        for cycle in range(1, scale.pick(CYCLES, 10) + 1):
            done = alone.cycle()
            seconds += done.seconds
            results += _stay(done.gained)
            if cycle % SHOWN == 0:
                values = len(alone.pipeline.schema) + _LANES
                times[name][float(cycle * rate)] = 1e3 * seconds
                sizes[name][float(cycle * rate)] = results * values * 8 / 1e6
    return times, sizes


def _stay(gained: Batch) -> int:
    """The growth of the result. Only results that the same batch takes back have an end; they do not count."""
    return int(np.sum(gained.sign[gained.end == FOREVER], dtype=np.int64))


def _times(scale: Scale) -> FigureData:
    return FigureData(_measured(scale)[0], {"connections": trace(scale).name})


def _sizes(scale: Scale) -> FigureData:
    return FigureData(_measured(scale)[1], {"connections": trace(scale).name})


FIGURE_12 = Experiment(
    "PatroumpasSellis2011-fig12",
    "cumulative time over landmark windows",
    "Nothing ends, so duplicate elimination and aggregates cost almost nothing however many tuples there are, while a "
    "join becomes worse and worse.",
    _LANDMARK,
    STATE,
    Axis("cumulative processor time (ms)", log=True),
    _times,
    (
        grows(JOIN, "a join's cumulative time grows faster than the window, 6 times", least=9.0),
        *(
            below_at_end(name, JOIN, f"{name} takes a tenth of a join's time at the end", by=10.0, why=LOOKED_UP)
            for name in (DISTINCT, SUM, MAX)
        ),
    ),
)

FIGURE_13 = Experiment(
    "PatroumpasSellis2011-fig13",
    "memory for results over landmark windows",
    "The results of a join need most memory, and ever more; those of duplicate elimination are almost negligible, as "
    "are those of aggregates, SUM and MAX alike.",
    f"{_LANDMARK} Results are counted and taken at eight bytes for each column, start and end.",
    STATE,
    Axis("results (MB)", log=True),
    _sizes,
    (
        grows(JOIN, "a join's results grow faster than the window, 6 times", least=9.0),
        below_at_end(DISTINCT, JOIN, "distinct values take a tenth of what joined tuples take at the end", by=10.0),
        below_at_end(SUM, JOIN, "groups take a hundredth of it", by=100.0),
        alike(SUM, MAX, "SUM and MAX need the same", within=1.01),
    ),
)
