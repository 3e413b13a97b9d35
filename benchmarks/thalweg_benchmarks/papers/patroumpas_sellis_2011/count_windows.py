"""Figures 8 to 10: operators over count-based windows, and joins that find results by order of expiration."""

from __future__ import annotations

import numpy as np

from thalweg.core.lanes import Ints
from thalweg_benchmarks.kernel import count_joins
from thalweg_benchmarks.kernel.feeds import Keys
from thalweg_benchmarks.papers.claims import below, below_at_end, grows, widens
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

JOINED = (1_000, 5_000, 20_000, 100_000)
WINDOWS = (10_000, 20_000, 50_000, 100_000, 200_000)
RATES = (10_000, 20_000, 50_000, 100_000)

WINDOW = Axis("window (tuples)", log=True)
CYCLE = Axis("processor time (ms per cycle of 10,000 tuples)", log=True)

SHORT_LISTS = (
    "NT's cost is that of the lists that it reads through, one for each key, and they are short here: generated "
    "callers that call most are called least (some 600 results of a key at the largest window), and Zeek's "
    "busiest ones are joined with nobody. Where one law makes the same hosts frequent on both sides, a list has "
    "5,000 results and ORD is over a hundred times as fast (docs/performance.md, thalweg bench kernel)"
)
SMALL_BATCHES = (
    "at a window of 1,000 tuples a batch has 100 ticks, and a call of the join costs some 2 ms however little it is "
    "given; NT, whose lists are short then, takes as much for a thousand ticks"
)
RANKED = (
    "each group's values lie in order, best first, and one that leaves is only marked: the next maximum is found at "
    "the head, where the paper reads the group through. A profile shows tables of values and sorting, none of which "
    "grows with the window; the join, which makes and removes hundreds of thousands of results a cycle, costs more"
)
COUNTED = (
    "duplicates are counted by value, so that nothing is looked for when one leaves: the cost is that of finding each "
    "tuple's value in a table, whatever the window's size, and little more than that of a sum"
)


def _one_for_each_side(*lanes: Ints) -> Keys:
    """Keys from recorded columns, one for each side of the join, in place of random ones."""
    sides = iter(lanes)
    return lambda _, rows: np.resize(next(sides), rows)


def _joins(scale: Scale) -> FigureData:
    found: Points = {"NT": {}, "ORD": {}, "probing again": {}}
    results = []
    left, right = trace(scale).dealt(2)
    for window in scale.pick(JOINED, (100, 400)):
        measured = count_joins.measure(_one_for_each_side(left.lanes[1], right.lanes[3]), window)  # src and partner
        results.append(measured.results)
        for name, seconds in zip(found, (measured.negative, measured.ordered, measured.probing), strict=True):
            found[name][float(window)] = 1e6 * seconds
    return FigureData(found, {"connections": trace(scale).name, "results alive, by window": results})


def _operators(scale: Scale) -> FigureData:
    windows, rate = scale.pick(WINDOWS, (200, 400)), scale.pick(RATE, FEW)
    found: Points = {
        name: {
            float(n): milliseconds(name, f"[ROWS {n}]", scale, fill=n, cycles=5, rate=rate, counted=True)
            for n in windows
        }
        for name in QUERIES
    }
    return FigureData(found, {"connections": trace(scale).name})


def _rates(scale: Scale) -> FigureData:
    windows = scale.pick(WINDOWS, (200, 400))
    found: Points = {}
    for rate in scale.pick(RATES, (RATES[0], RATES[-1])):
        fed = scale.pick(rate, rate // 100)
        found[f"{rate:,} tuples/s"] = {
            float(n): milliseconds(DISTINCT, f"[ROWS {n}]", scale, fill=n, cycles=5, rate=fed, counted=True)
            for n in windows
        }
    return FigureData(found, {"connections": trace(scale).name})


FIGURE_8 = Experiment(
    "PatroumpasSellis2011-fig8",
    "a join over count windows: negative tuples against order of expiration",
    "With negative tuples a join over count windows becomes rapidly more costly as windows grow, for partners are "
    "found anew and results are looked for one by one. Results indexed by the order in which their tuples leave are "
    "removed more than two orders of magnitude faster.",
    "Connections dealt to two streams, joined by caller and called host, one tuple per tick and side. NT is the "
    "paper's, tuple by tuple, timed over the first ticks of a stretch; ORD and the kernel's own join, which probes "
    "again for a leaving tuple, take batches of a tenth of the window, up to 1,000 ticks. What all three produce and "
    "remove must be the same.",
    WINDOW,
    Axis("time (µs per tick)", log=True),
    _joins,
    (
        below_at_end(
            "ORD",
            "NT",
            "ORD is two orders of magnitude faster than NT at the largest window",
            by=100.0,
            why=SHORT_LISTS,
        ),
        widens("ORD", "NT", "the gap widens as windows grow", by=2.0),
        below("ORD", "NT", "ORD is faster than NT", why=SMALL_BATCHES),
    ),
)

FIGURE_9 = Experiment(
    "PatroumpasSellis2011-fig9",
    "operators over count windows",
    "Joins cost more than duplicate elimination, SUM is cheap, and MAX is the most expensive: each maximum that "
    "leaves makes it read its group through, so that its cost grows linearly with the window.",
    f"{WORKLOAD} Joins find results by order of expiration.",
    WINDOW,
    CYCLE,
    _operators,
    (
        below(DISTINCT, JOIN, "a join costs more than duplicate elimination"),
        below(SUM, DISTINCT, "SUM costs less than duplicate elimination", why=COUNTED),
        below(JOIN, MAX, "MAX costs most", why=RANKED),
        grows(MAX, "MAX grows at least half as fast as the window, 20 times", least=10.0, why=RANKED),
    ),
)

FIGURE_10 = Experiment(
    "PatroumpasSellis2011-fig10",
    "duplicate elimination over count windows, by rate",
    "Whatever the rate, cost grows almost linearly with the window's size.",
    f"{WORKLOAD.replace('10,000 tuples', 'as many tuples as the rate says')} A cycle is a second.",
    WINDOW,
    Axis("processor time (ms per cycle)", log=True),
    _rates,
    (
        *(
            grows(
                f"{rate:,} tuples/s",
                f"at {rate:,} tuples/s cost grows at least half as fast as the window",
                least=10.0,
                why=COUNTED,
            )
            for rate in (RATES[0], RATES[-1])
        ),
        below(f"{RATES[0]:,} tuples/s", f"{RATES[-1]:,} tuples/s", "a higher rate costs more"),
    ),
)
