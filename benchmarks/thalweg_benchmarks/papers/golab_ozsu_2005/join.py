"""Figures 9 and 10: a join of two links, with few and with many results."""

from __future__ import annotations

from functools import partial

from thalweg.kernel.pipeline import Strategy
from thalweg.kernel.state.buffers import PartitionedBuffer
from thalweg_benchmarks.papers.claims import below, below_at_end, grows, widens
from thalweg_benchmarks.papers.experiment import Experiment, FigureData, Scale
from thalweg_benchmarks.papers.golab_ozsu_2005.queries import BY_TICK, TIME, WINDOW, WORKLOAD, join
from thalweg_benchmarks.papers.golab_ozsu_2005.running import DIRECT, NT, UPA, Approach, series, tick_by_tick, timed
from thalweg_benchmarks.papers.trace import trace

WINDOWS = (2_000, 5_000, 10_000, 20_000, 50_000)
UPA_50 = Approach(Strategy.AUTO, partial(PartitionedBuffer, 50))

CHEAP_READING = (
    "reading through and rewriting the view is about half of DIRECT's time in a profile (46 % with many results, 58 % "
    "with few), but over columns, once in a twentieth of the window, that is all it costs; the paper follows a linked "
    "list"
)
NOT_FEW = (
    "the protocol that stands for ftp in Zeek's logs, http, is a twelfth of them: results grow with the square of the "
    "window (see the details), and to find and write them costs NT and UPA alike"
)
DROPPED = "a partition is dropped whole when it has ended and never read through, so that their number hardly matters"
NO_LISTS = (
    "negative tuples are sorted and looked up a batch at a time here, not one by one in lists: NT still sorts "
    "everything twice (40 % of its time) and rewrites what it deletes from (30 %), which is a factor of two or three, "
    "not ten"
)


def _run(protocol: str, approaches: dict[str, Approach], scale: Scale) -> FigureData:
    windows = scale.pick(WINDOWS, (1_000, 2_000))
    query = join(protocol)
    queries = {name: (query, approach) for name, approach in approaches.items()}
    found = series(queries, windows, scale, lambda t: t.milliseconds)
    results = [timed(query, UPA, window, scale).results for window in windows]
    by_tick = tick_by_tick(queries, windows[-1], scale)
    details = {"connections": trace(scale).name, "results alive, by window": results, BY_TICK: by_tick}
    return FigureData(found, details)


FIGURE_9 = Experiment(
    "GolabOzsu2005-fig9",
    "a selective join (Query 1, ftp)",
    "With few results, UPA becomes nearly twice as fast as NT and DIRECT as windows grow; DIRECT beats NT, for a "
    "small result is cheap to read through, but loses ground with the window.",
    WORKLOAD,
    WINDOW,
    TIME,
    partial(_run, "few", {"NT": NT, "DIRECT": DIRECT, "UPA": UPA}),
    (
        below_at_end("UPA", "NT", "UPA is nearly twice as fast as NT at the largest window", by=1.8, why=NOT_FEW),
        below_at_end(
            "UPA", "DIRECT", "UPA is nearly twice as fast as DIRECT at the largest window", by=1.8, why=CHEAP_READING
        ),
        below("DIRECT", "NT", "DIRECT is faster than NT", why=NOT_FEW),
        widens("UPA", "DIRECT", "DIRECT loses ground to UPA as the window grows", why=CHEAP_READING),
    ),
)

FIGURE_10 = Experiment(
    "GolabOzsu2005-fig10",
    "a join with ten times the results (Query 1, telnet)",
    "With many results DIRECT is by far the slowest. UPA with ten partitions starts well and becomes very slow; with "
    "fifty it is up to an order of magnitude faster than NT.",
    WORKLOAD,
    WINDOW,
    TIME,
    partial(_run, "many", {"NT": NT, "DIRECT": DIRECT, "UPA (10)": UPA, "UPA (50)": UPA_50}),
    (
        below_at_end("NT", "DIRECT", "DIRECT is the slowest at the largest window, by far", by=2.0, why=CHEAP_READING),
        below_at_end("UPA (50)", "UPA (10)", "fifty partitions beat ten at the largest window", by=1.5, why=DROPPED),
        below_at_end(
            "UPA (50)",
            "NT",
            "UPA (50) is an order of magnitude faster than NT at the largest window",
            by=10.0,
            why=NO_LISTS,
        ),
        below("UPA (50)", "NT", "UPA (50) is faster than NT"),
        grows("DIRECT", "DIRECT slows down as the result grows", least=2.0),
    ),
)
