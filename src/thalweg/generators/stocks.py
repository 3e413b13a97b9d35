"""Stock quotes, and news articles about the companies in them (MaddenEtAl2002 §4.3).

Prices are uniform over (0, 100] as in the paper, articles have 200 to 1,000 bytes, and symbols are skewed: few
companies have most quotes and articles. Article k is about quote k // articles_per_quote and comes after it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.core.lanes import Ints
from thalweg.core.schema import Schema
from thalweg.core.time import SECOND
from thalweg.core.types import DataType
from thalweg.generators.draws import Draws
from thalweg.generators.tables import START, arrivals, named, row_numbers, tabulate

QUOTE = Schema.of(ts=DataType.TIMESTAMP, symbol=DataType.STRING, price=DataType.DOUBLE, volume=DataType.BIGINT)
ARTICLE = Schema.of(ts=DataType.TIMESTAMP, symbol=DataType.STRING, title=DataType.STRING, body=DataType.STRING)

SHORTEST, LONGEST = 200, 1_000  # bytes of an article
_BODIES = 1_000
_WORDS = "shares rose fell after quarterly results investors expect the market outlook was said to remain strong weak"
_HEADLINES = pa.array(["rises", "falls", "reports results", "names a new chief", "buys a rival", "cuts its outlook"])


def quotes(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    symbols: int = 2_250,
    skew: float = 1.0,
) -> pa.Table:
    """`rows` quotes from the `first_row`-th on; `skew` is the Zipf exponent of the symbols."""
    draws = Draws(seed, row_numbers(first_row, rows))
    return tabulate(
        QUOTE,
        (
            arrivals(draws, rate, start),
            named(_symbols_of(draws, symbols, skew), _tickers(symbols)),
            (draws.below("price", 10_000) + 1) / 100,
            100 * (1 + draws.exponential("volume", 10.0).astype(np.int64)),
        ),
    )


def articles(
    seed: int,
    first_row: int,
    rows: int,
    rate: float = 1_000.0,
    *,
    start: int = START,
    symbols: int = 2_250,
    skew: float = 1.0,
    articles_per_quote: int = 1,
) -> pa.Table:
    """`rows` articles from the `first_row`-th on; `rate` counts quotes per second, not articles."""
    numbers = row_numbers(first_row, rows)
    draws = Draws(seed, numbers)
    symbol = named(_symbols_of(draws.at(numbers // articles_per_quote), symbols, skew), _tickers(symbols))
    later = start + int(SECOND / rate) + 1  # after the time slot of its quote
    headline = named(draws.below("headline", len(_HEADLINES)), _HEADLINES)
    return tabulate(
        ARTICLE,
        (
            arrivals(draws, rate * articles_per_quote, later, "article's arrival"),
            symbol,
            pc.binary_join_element_wise(symbol, headline, " "),
            named(draws.below("body", _BODIES), _bodies()),
        ),
    )


def _symbols_of(draws: Draws, symbols: int, skew: float) -> Ints:
    """The code of the symbol in each quote."""
    return draws.zipf("symbol", symbols, skew)


@lru_cache(maxsize=8)
def _tickers(symbols: int) -> pa.Array:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return pa.array(["".join(letters[i // 26**p % 26] for p in (3, 2, 1, 0)) for i in range(symbols)])


@lru_cache(maxsize=1)
def _bodies() -> pa.Array:
    """Texts with lengths from SHORTEST to LONGEST, the same for all seeds."""
    draws, words = Draws(0, np.arange(_BODIES * LONGEST // 4)), _WORDS.split()
    text = " ".join(words[i] for i in draws.below("words", len(words)))
    lengths = np.linspace(SHORTEST, LONGEST, _BODIES).astype(int)
    begins = draws.below("begin", len(text) - LONGEST)[:_BODIES]
    return pa.array([text[b : b + n] for b, n in zip(begins, lengths, strict=True)])
