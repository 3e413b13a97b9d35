"""Stocks joined with articles: an eddy against the two plans of NiagaraCQ (MaddenEtAl2002 §5).

    SELECT * FROM stocks AS s, articles AS a WHERE s.price > x AND s.symbol = a.symbol

*PullUp* has one join, and selects for all queries above it. *PushDown* selects for all queries below, and each query
has a join of its own. Both copy a tuple for each query that gets it. All three emit a batch for each query.

In the second experiment each query has a costly predicate in place of `price > x`: first an expression, which is
evaluated for every row, then a user's function. Our engine calls a user's function once for equal arguments, below the
join or above it; NiagaraCQ's PullUp calls it for every row. So PullUp is measured both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from thalweg.algebra.catalog import Stream
from thalweg.algebra.expressions import Call, Expression, Literal, UserFunction, call, cast, column, function, literal
from thalweg.algebra.plan import Join, Plan, Select, StreamScan, Windowed
from thalweg.algebra.windows import Now, Unbounded
from thalweg.core.batch import Batch
from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.strings import StringPool
from thalweg.core.types import DataType
from thalweg.flows.eddy import Eddy, spj
from thalweg.kernel.pipeline import build
from thalweg.kernel.sweep.evaluate import Condition
from thalweg_benchmarks.flows.selections import MEASURED, measure
from thalweg_benchmarks.result import Result

STOCKS = Stream("stocks", Schema.of(symbol=DataType.BIGINT, price=DataType.BIGINT))
ARTICLES = Stream("articles", Schema.of(symbol=DataType.BIGINT, text=DataType.BIGINT))
SYMBOLS = 10_000
PAPER = 2_250  # symbols in the paper
HIGHEST = 100_000  # the highest price
TEXT = 1_000  # characters that a costly predicate searches
PAST = 40  # prices that a user's function scans
QUERIES = (1, 10, 20, 50, 100, 200)
AHEAD = 5.0  # times as fast as PullUp, with costly predicates and several articles for a quote

SYMBOL, PRICE = column(STOCKS.schema, 0), column(STOCKS.schema, 1)
BOTH = STOCKS.schema + ARTICLES.schema


def run(queries: Sequence[int] = QUERIES, costly: int = 100, symbols: int = SYMBOLS) -> Iterator[Result]:
    """Ratios by the number of queries, then by the number of articles for a quote, with equally many joined pairs."""
    for count, size in product(queries, dict.fromkeys((min(PAPER, symbols), symbols))):
        bench = Bench(bounds(count), 1, size)
        batches = MEASURED * max(1, SYMBOLS // size)
        for name, approach in (("PullUp", bench.pull_up()), ("PushDown", bench.push_down())):
            eddy, other = measure([bench.eddy(), approach], bench.quotes(batches), batches=batches)
            case = f"{count} queries on stocks and articles, {size:,} quotes a batch: eddy against {name}"
            yield Result(case, other / eddy, 1.0 if count >= 10 else None, at_least=True)
    for articles in (1, 10, 100):
        bench = Bench(costly_predicates(costly), articles, symbols // articles)
        eddy, pull_up = measure([bench.eddy(), bench.pull_up()], bench.quotes())
        yield _ahead(f"{costly} costly predicates", articles, pull_up / eddy, AHEAD if articles > 1 else None)
    for articles in (10, 100):
        bench = Bench(functions(costly), articles, max(1, symbols // articles // 10))
        approaches = [bench.eddy(), bench.pull_up(for_each=True), bench.pull_up()]
        eddy, for_each, once = measure(approaches, bench.quotes())
        yield _ahead(f"{costly} functions of users", articles, for_each / eddy, AHEAD)
        yield _ahead(f"{costly} functions of users, asked once for equal values", articles, once / eddy, None)


def _ahead(what: str, articles: int, ratio: float, target: float | None) -> Result:
    return Result(f"{what}, {articles} articles for a quote: eddy against PullUp", ratio, target, at_least=True)


def bounds(count: int) -> list[Expression]:
    """Predicates price > x; the lowest x selects every quote."""
    xs = np.sort(np.random.default_rng(1).integers(0, HIGHEST, count))
    return [call(">", PRICE, literal(int(x))) for x in (0, *xs[1:].tolist())]


def costly_predicates(count: int) -> list[Expression]:
    """Predicates that search a long text made from the price, different for each query; they select few quotes."""
    rng, found = np.random.default_rng(3), list[Expression]()
    for i in range(count):
        letters = "".join(rng.choice(list("abcdefgh"), TEXT).tolist())
        text = call("concat", literal(letters), cast(call("+", PRICE, literal(i)), DataType.STRING))
        found.append(call("like", text, literal(f"%{i % 10}{i // 10 % 10}%")))
    return found


def functions(count: int) -> list[Expression]:
    """User functions in Python that take some ten microseconds, as in the paper: each scans invented past prices."""

    def looks_for(text: str, number: int) -> UserFunction:
        @function(name=f"wants_{number}", returns=bool, takes=int)
        def wants(price: int) -> bool:
            return any(str(price * past % HIGHEST).startswith(text) for past in range(1, PAST))

        return wants

    return [Call(looks_for(f"{1 + i % 9}{i // 9 % 10}{i % 7}", i), (PRICE,), DataType.BOOLEAN) for i in range(count)]


@dataclass(frozen=True)
class Bench:
    """Queries with different predicates over stocks, run by an eddy, PullUp or PushDown over the same articles."""

    predicates: Sequence[Expression]
    articles: int  # for each symbol
    symbols: int = SYMBOLS

    def quotes(self, batches: int = MEASURED) -> Iterator[Batch]:
        """Batches with a quote for each symbol: `batches` of them, and one before, which is not timed."""
        rng = np.random.default_rng(2)
        for at in range(1, batches + 2):
            prices = rng.integers(1, HIGHEST + 1, self.symbols)
            yield Batch.of_arrivals([np.arange(self.symbols), prices], np.full(self.symbols, at))

    def eddy(self) -> Callable[[Batch, int], int]:
        """All queries in one eddy."""
        eddy = Eddy({stream.name: stream.schema for stream in (STOCKS, ARTICLES)}, StringPool())
        for slot, predicate in enumerate(self.predicates):
            query = spj(Select(_joined(), predicate))
            assert query is not None
            eddy.add(slot, query)
        eddy.process({"articles": self._table()}, 0)
        return lambda batch, now: sum(len(gained) for _, gained in eddy.process({"stocks": batch}, now))

    def pull_up(self, for_each: bool = False) -> Callable[[Batch, int], int]:
        """One join, then the predicates over its results; `for_each`: call user functions for each result."""
        join = build(_joined())
        join.process({"articles": self._table()}, 0)
        selected = _Grouped(self.predicates, BOTH, for_each)
        return lambda batch, now: sum(len(copy) for copy in selected.split(join.process({"stocks": batch}, now)))

    def push_down(self) -> Callable[[Batch, int], int]:
        """The predicates over stocks, then a join for each query."""
        joins = [build(_joined()) for _ in self.predicates]
        for join in joins:  # loaded before the timing starts, so that a shared table would gain nothing
            join.process({"articles": self._table()}, 0)
        selected = _Grouped(self.predicates, STOCKS.schema)

        def process(batch: Batch, now: int) -> int:
            copies = zip(joins, selected.split(batch), strict=True)
            return sum(len(join.process({"stocks": copy}, now)) for join, copy in copies)

        return process

    def _table(self) -> Batch:
        rows = self.symbols * self.articles
        return Batch.of_arrivals(
            [np.repeat(np.arange(self.symbols), self.articles), np.arange(rows)], np.zeros(rows, np.int64)
        )


def _joined() -> Plan:
    stocks, articles = Windowed(StreamScan(STOCKS), Now()), Windowed(StreamScan(ARTICLES), Unbounded())
    return Join(stocks, articles, call("=", SYMBOL, column(BOTH, 2)))


class _Grouped:
    """NiagaraCQ's grouped selection: a join with the table of constants, if the predicates have constants; a split."""

    def __init__(self, predicates: Sequence[Expression], schema: Schema, for_each: bool = False) -> None:
        bounds = [p.args[1] for p in predicates if isinstance(p, Call) and p.function == ">"]
        values = [bound.value for bound in bounds if isinstance(bound, Literal)]
        self._bounds: Ints | None = np.array(values, dtype=np.int64) if values else None
        asked = [p.function for p in predicates if isinstance(p, Call) and isinstance(p.function, UserFunction)]
        self._functions = asked if for_each else []
        self._conditions = [Condition(p, schema, StringPool()) for p in predicates]

    def split(self, tuples: Batch) -> Iterator[Batch]:
        """For each query a copy of the tuples that its predicate selects."""
        if self._functions:
            prices = tuples.columns[1].tolist()
            for function_ in self._functions:
                yield tuples.take(np.fromiter(map(function_, prices), dtype=np.bool_, count=len(prices)))
            return
        if self._bounds is None:
            for condition in self._conditions:
                yield tuples.take(condition.holds(tuples.columns, len(tuples)))
            return
        order = np.argsort(tuples.columns[1])
        wanted = len(order) - np.searchsorted(tuples.columns[1][order], self._bounds, side="right")
        for count in wanted.tolist():
            yield tuples.take(np.sort(order[len(order) - count :]))
