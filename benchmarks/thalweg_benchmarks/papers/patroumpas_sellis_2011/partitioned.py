"""Figure 11: operators over partitioned windows."""

from __future__ import annotations

from thalweg_benchmarks.papers.claims import below, grows
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Points, Scale
from thalweg_benchmarks.papers.patroumpas_sellis_2011.count_windows import CYCLE
from thalweg_benchmarks.papers.patroumpas_sellis_2011.running import (
    DISTINCT,
    FEW,
    JOIN,
    MAX,
    QUERIES,
    RATE,
    WORKLOAD,
    milliseconds,
)
from thalweg_benchmarks.papers.trace import trace

PROTOCOLS = 5
EACH = (2_000, 4_000, 10_000, 20_000)  # tuples in a partition
RARE = 0.1  # the share of the rarest protocol, at least
WHOLE = "distinct, not partitioned"

CHEAP_DISTINCT = (
    "duplicate elimination, which counts by value, looks for nothing in a count window either, and is a third of the "
    "cost of keeping each group's values in order for MAX; partitions make no difference to either"
)


def _run(scale: Scale) -> FigureData:
    rate = scale.pick(RATE, FEW)
    found: Points = {name: {} for name in (*QUERIES, WHOLE)}
    for each in scale.pick(EACH, (20, 40)):
        size = float(PROTOCOLS * each)
        for name in QUERIES:
            window, fill = f"[PARTITION BY protocol ROWS {each}]", round(each / RARE)
            found[name][size] = milliseconds(
                name, window, scale, fill=fill, cycles=5, rate=rate, counted=True, protocols=PROTOCOLS
            )
        window = f"[ROWS {PROTOCOLS * each}]"
        found[WHOLE][size] = milliseconds(
            DISTINCT, window, scale, fill=PROTOCOLS * each, cycles=5, rate=rate, counted=True, protocols=PROTOCOLS
        )
    return FigureData(found, {"connections": trace(scale).name})


FIGURE_11 = Experiment(
    "PatroumpasSellis2011-fig11",
    "operators over partitioned windows",
    "The cost of duplicate elimination is almost the same whatever the window's size, for what replaces a value is "
    "looked for in its partition only. MAX therefore costs less than a join, and about half as much as duplicate "
    "elimination over a count window.",
    f"{WORKLOAD} Windows are partitioned by protocol; only the five most frequent protocols are fed.",
    Axis("tuples in all partitions", log=True),
    CYCLE,
    _run,
    (
        grows(DISTINCT, "duplicate elimination stays within a factor of 1.5", least=1 / 1.5, most=1.5),
        below(MAX, JOIN, "MAX costs less than a join"),
        below(
            MAX,
            WHOLE,
            "MAX costs about half as much as duplicate elimination over a count window",
            by=1.5,
            why=CHEAP_DISTINCT,
        ),
    ),
)
