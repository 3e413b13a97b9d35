"""Figures 6 and 7: operators over time-based sliding windows, by slide and by extent."""

from __future__ import annotations

from thalweg_benchmarks.papers.claims import below, grows
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
    milliseconds,
)
from thalweg_benchmarks.papers.trace import trace

EXTENT = 10  # timestamps, where the slide varies
SLIDES = (1, 2, 5, 10)
EXTENTS = (2, 5, 10, 20, 30)

INCREMENTAL = (
    "{} takes in what comes and takes out what ends, and looks at nothing else of the window: its cost follows the "
    "tuples of a timestamp, not the extent"
)

BESIDES = (
    "with the smallest extent half of a join's time goes into sorting the batch by key, which does not depend on the "
    "window (54 % in a profile over generated connections; 3 % with the largest)"
)

ONCE_A_SLIDE = (
    "a group's change is emitted once a slide, and there are no more groups than sources: of Zeek's some 4,000 change "
    "with a slide of one, and all 10,216 of the stream, 2.5 times as many, with ten"
)
ALL_ANEW = (
    "with a slide as long as the window all values end when the next tuples come, which are all sorted to emit the "
    "values anew; with shorter ones most are of values that are shown, and are skipped"
)
TOGETHER = "a longer slide joins more tuples in one call, and those with the same key are looked up together"
SHOWN = (
    "delta* only sees that a value is shown already, where the window holds them all, as it does of a recorded "
    "trace that begins anew within it; an aggregate adds each tuple to its group and takes it away again"
)


def _by_slide(scale: Scale) -> FigureData:
    rate = scale.pick(RATE, FEW)
    slides = scale.pick(SLIDES, (1, 5))
    found: Points = {
        name: {float(slide): slide * _time(name, EXTENT, slide, rate, scale) for slide in slides} for name in QUERIES
    }
    return FigureData(found, {"connections": trace(scale).name})


def _by_extent(scale: Scale) -> FigureData:
    rate = scale.pick(RATE, FEW)
    extents = scale.pick(EXTENTS, (2, 10))
    found: Points = {
        name: {float(extent): _time(name, extent, 1, rate, scale) for extent in extents} for name in QUERIES
    }
    return FigureData(found, {"connections": trace(scale).name})


def _time(name: str, extent: int, slide: int, rate: int, scale: Scale) -> float:
    """Milliseconds per timestamp, over two slides at least."""
    cycles = scale.pick(max(10, 2 * slide), slide)
    filled = -(-extent // slide) * slide  # whole slides, so that every run times equally many
    window = f"[RANGE {extent} SLIDE {slide}]"
    return milliseconds(name, window, scale, fill=(filled - 1) * rate, cycles=cycles, rate=rate)


FIGURE_6 = Experiment(
    "PatroumpasSellis2011-fig6",
    "operators over time-based windows, by slide",
    "The cost of a slide grows linearly with its length, for as many tuples come and go. A join costs far more than "
    "the others, aggregates next to nothing, and duplicate elimination lies between.",
    f"{WORKLOAD} The extent is {EXTENT} timestamps.",
    Axis("slide (timestamps of 10,000 tuples)"),
    Axis("processor time (ms per slide)", log=True),
    _by_slide,
    (
        *(
            grows(name, f"{name} grows linearly: about ten times from 1 to 10", least=5.0, most=20.0, why=why)
            for name, why in {JOIN: TOGETHER, DISTINCT: ALL_ANEW, SUM: ONCE_A_SLIDE, MAX: ONCE_A_SLIDE}.items()
        ),
        below(DISTINCT, JOIN, "a join costs far more than duplicate elimination", by=2.0),
        below(SUM, DISTINCT, "SUM costs less than duplicate elimination", why=SHOWN),
        below(MAX, DISTINCT, "MAX costs less than duplicate elimination", why=SHOWN),
    ),
)

FIGURE_7 = Experiment(
    "PatroumpasSellis2011-fig7",
    "operators over time-based windows, by extent",
    "Cost grows almost linearly with the extent; that of a join does so most clearly, for more tuples match.",
    f"{WORKLOAD} The window slides with every timestamp.",
    Axis("extent (timestamps of 10,000 tuples)"),
    Axis("processor time (ms per timestamp)", log=True),
    _by_extent,
    (
        grows(JOIN, "a join grows at least half as fast as the extent, 15 times", least=7.5, why=BESIDES),
        grows(
            DISTINCT,
            "duplicate elimination grows at least half as fast as the extent",
            least=7.5,
            why="delta* emits a value once in a window's length, so the longer the window, the fewer values are "
            "emitted",
        ),
        grows(SUM, "SUM grows at least half as fast as the extent", least=7.5, why=INCREMENTAL.format("SUM")),
        grows(
            MAX,
            "MAX grows at least half as fast as the extent",
            least=7.5,
            why="only tuples that may still become the greatest are kept, in order, so that nothing is searched "
            "when one ends",
        ),
        below(DISTINCT, JOIN, "a join costs most"),
    ),
)
