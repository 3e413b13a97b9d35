"""Figures 11 to 14 and 16: duplicate elimination by itself, its state, and below a join."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from thalweg_benchmarks.papers.claims import below, below_at_end, widens
from thalweg_benchmarks.papers.experiment import Axis, Claim, Experiment, FigureData, Scale
from thalweg_benchmarks.papers.golab_ozsu_2005.queries import (
    BY_TICK,
    DISTINCT,
    DISTINCT_JOIN,
    DISTINCT_PAIRS,
    STATE,
    TIME,
    WINDOW,
    WORKLOAD,
)
from thalweg_benchmarks.papers.golab_ozsu_2005.running import DIRECT, NT, UPA, Timed, series, tick_by_tick, timed
from thalweg_benchmarks.papers.trace import trace

WINDOWS = (2_000, 5_000, 20_000, 50_000, 200_000)
APPROACHES = {"NT": NT, "DIRECT": DIRECT, "UPA": UPA}

_DISTINCT = (
    f"{WORKLOAD} DIRECT has the literature's operator, which stores and reads through its input; UPA has delta*."
)

COUNTS = (
    "over negative tuples DISTINCT counts duplicates here instead of storing and reading through them, so that NT "
    "pays for twice the tuples and for EXPIRE (a tenth of its time), and for nothing that grows with the window; with "
    "pairs, a quarter of either's time goes into finding each in a hash table"
)
SELDOM = (
    "reading its input through is nearly nine tenths of DIRECT's time in a profile, but over columns that is some 5 "
    "ns for each stored tuple and batch; tick by tick, in the details below, the ratio is much the same, for then the "
    "calls themselves take most of UPA's time"
)
TWO_EACH = (
    "delta* stores up to two tuples for each value, so the ratio is half the tuples of a value in the window, "
    "and grows with it: there are 2,000 sources if connections are generated, and some 8,000 on a link of Zeek's"
)
RENEWED = (
    f"{COUNTS}. Where every value is always there, as in windows that are longer than a recorded trace, which "
    "then begins anew, DISTINCT over negative tuples is silent, while delta* renews each value once in a "
    "window's length, which the join above must take in"
)


def _milliseconds(run: Timed) -> float:
    return run.milliseconds


def _stored(run: Timed) -> float:
    return run.stored


def _run(query: str, shown: Callable[[Timed], float], scale: Scale) -> FigureData:
    windows = scale.pick(WINDOWS, (1_000, 2_000))
    queries = {name: (query, approach) for name, approach in APPROACHES.items()}
    found = series(queries, windows, scale, shown)
    ours = [timed(query, UPA, window, scale) for window in windows]
    theirs = [timed(query, NT, window, scale) for window in windows]
    saved = [round(b.stored / a.stored, 1) for a, b in zip(ours, theirs, strict=True)]
    return FigureData(
        found,
        {
            "connections": trace(scale).name,
            "results alive, by window": [run.results for run in ours],
            "tuples stored by NT / by UPA, by window": saved,
            BY_TICK: tick_by_tick(queries, windows[-1], scale),
        },
    )


def _experiment(figure: int, title: str, claim: str, query: str, y: Axis, claims: tuple[Claim, ...]) -> Experiment:
    shown = _milliseconds if y is TIME else _stored
    return Experiment(
        f"GolabOzsu2005-fig{figure}", title, claim, _DISTINCT, WINDOW, y, partial(_run, query, shown), claims
    )


FIGURE_11 = _experiment(
    11,
    "distinct sources (Query 2)",
    "With few distinct values, delta* and its partitions make UPA an order of magnitude faster than NT and DIRECT.",
    DISTINCT,
    TIME,
    (
        below("UPA", "NT", "UPA is faster than NT"),
        below_at_end(
            "UPA", "NT", "UPA is an order of magnitude faster than NT at the largest window", by=10.0, why=COUNTS
        ),
        below_at_end(
            "UPA",
            "DIRECT",
            "UPA is an order of magnitude faster than DIRECT at the largest window",
            by=10.0,
            why=SELDOM,
        ),
    ),
)

FIGURE_12 = _experiment(
    12,
    "distinct pairs of source and destination (Query 2)",
    "With ten times as many distinct values UPA is about twice as fast as NT, and DIRECT does badly.",
    DISTINCT_PAIRS,
    TIME,
    (
        below_at_end("UPA", "NT", "UPA is about twice as fast as NT at the largest window", by=1.8, why=COUNTS),
        below_at_end("NT", "DIRECT", "DIRECT is slower than NT at the largest window"),
        widens("UPA", "DIRECT", "DIRECT loses ground to UPA as the window grows"),
    ),
)

FIGURE_13 = _experiment(
    13,
    "state of distinct sources (Query 2)",
    "Where few values are distinct, delta* needs up to two orders of magnitude less space: its state follows its "
    "output, not its input.",
    DISTINCT,
    STATE,
    (
        below("UPA", "NT", "UPA stores less than NT"),
        below("UPA", "DIRECT", "UPA stores less than DIRECT"),
        below_at_end(
            "UPA", "NT", "UPA stores a hundredth of what NT does at the largest window", by=100.0, why=TWO_EACH
        ),
        below_at_end(
            "UPA", "DIRECT", "UPA stores a hundredth of what DIRECT does at the largest window", by=100.0, why=TWO_EACH
        ),
    ),
)

FIGURE_14 = _experiment(
    14,
    "state of distinct pairs (Query 2)",
    "With more distinct values the gain is smaller, but UPA still needs significantly less space.",
    DISTINCT_PAIRS,
    STATE,
    (
        below("UPA", "NT", "UPA stores at most two thirds of what NT does", by=1.5),
        below("UPA", "DIRECT", "UPA stores at most two thirds of what DIRECT does", by=1.5),
    ),
)

FIGURE_16 = _experiment(
    16,
    "distinct sources of two links, joined (Query 4)",
    "As with Queries 1 and 2: UPA is significantly faster, DIRECT is slowest as windows grow, and UPA needs up to two "
    "orders of magnitude less space.",
    DISTINCT_JOIN,
    TIME,
    (
        below("UPA", "NT", "UPA is faster than NT", why=RENEWED),
        below_at_end("UPA", "NT", "UPA is at least twice as fast as NT at the largest window", by=2.0, why=COUNTS),
        below_at_end("NT", "DIRECT", "DIRECT is the slowest at the largest window"),
    ),
)
