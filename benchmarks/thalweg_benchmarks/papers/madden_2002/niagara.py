"""Figure 11: one eddy against the two plans of NiagaraCQ, for stocks joined with articles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from thalweg.algebra.expressions import Expression
from thalweg_benchmarks.flows.niagara import Bench, bounds, costly_predicates
from thalweg_benchmarks.flows.selections import measure
from thalweg_benchmarks.papers.claims import below, below_at_end, since, until, widens
from thalweg_benchmarks.papers.experiment import Axis, Experiment, FigureData, Scale

CACQ, PULL_UP, PUSH_DOWN = "eddy", "PullUp", "PushDown"
TIME = Axis("milliseconds for a batch of quotes", log=True)
STOCKS = 2_250  # quotes in a batch, as in the paper


def _approaches(bench: Bench, names: Sequence[str]) -> dict[str, float]:
    made: dict[str, Callable[[], Callable[..., int]]] = {
        CACQ: bench.eddy,
        PULL_UP: bench.pull_up,
        PUSH_DOWN: bench.push_down,
    }
    took = measure([made[name]() for name in names], bench.quotes())
    return {name: 1e3 * seconds for name, seconds in zip(names, took, strict=True)}


def _series(benches: dict[float, Bench], names: Sequence[str]) -> FigureData:
    found: dict[str, dict[float | str, float]] = {name: {} for name in names}
    for x, bench in benches.items():
        for name, took in _approaches(bench, names).items():
            found[name][x] = took
    return FigureData(found)


def _by_queries(scale: Scale) -> FigureData:
    counts = scale.pick((1, 5, 10, 20, 50, 100, 200), (1, 5))
    return _series({n: Bench(bounds(n), 1, scale.pick(STOCKS, 200)) for n in counts}, (CACQ, PULL_UP, PUSH_DOWN))


def _by_articles(make: Callable[[int], list[Expression]], scale: Scale) -> FigureData:
    articles, queries = scale.pick((1, 10, 100), (1, 10)), scale.pick(100, 5)
    quotes = scale.pick(STOCKS // 10, 6)
    return _series({n: Bench(make(queries), n, quotes) for n in articles}, (CACQ, PULL_UP))


FIGURE_11A = Experiment(
    "MaddenEtAl2002-fig11a",
    "stocks and articles, by the number of queries",
    "The eddy is faster than PullUp for few queries and a little slower for many, as it keeps each tuple's state; "
    "PushDown, with a join for each query, is slower throughout.",
    f"Batches of {STOCKS:,} quotes, an article for each stock; query i wants prices above a bound of its own, one of "
    f"them "
    "all prices. All three ways are made of our own operators, and each query gets a batch of its own.",
    Axis("queries"),
    TIME,
    _by_queries,
    (
        below(
            CACQ,
            PULL_UP,
            "the eddy is faster than PullUp for few queries (up to 10)",
            where=until(10),
            why="here it is the other way round: a batch costs an eddy more by itself (filters, lineage, SteMs are "
            "steps of their own), and from twenty queries on what PullUp copies for each costs more",
        ),
        below(CACQ, PUSH_DOWN, "PushDown is slower than the eddy from five queries on", where=since(5)),
        below(PULL_UP, PUSH_DOWN, "PushDown is slower than PullUp from five queries on", where=since(5)),
        widens(PULL_UP, PUSH_DOWN, "PushDown falls behind with every query"),
    ),
)

FIGURE_11B = Experiment(
    "MaddenEtAl2002-fig11b",
    "costly predicates, by articles for a quote",
    "With predicates that take their time the eddy, which applies them before the join, is far ahead of PullUp, which "
    "applies them to its results; the more articles a quote has, the farther.",
    "100 queries, each with a search of its own in a text of a thousand characters made from the price (the paper's "
    "functions spin for 10 to 500 microseconds), over 225 quotes with 1, 10 and 100 articles each.",
    Axis("articles for a quote", log=True),
    TIME,
    partial(_by_articles, costly_predicates),
    (
        below(CACQ, PULL_UP, "the eddy is at least twice as fast with ten articles and more", by=2.0, where=since(10)),
        below_at_end(CACQ, PULL_UP, "it is ten times as fast at a hundred articles", by=10.0),
        widens(CACQ, PULL_UP, "its lead grows with the number of articles"),
    ),
)
