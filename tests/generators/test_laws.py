"""What the papers' queries feel of a stream: skew, proportions, keys that refer to something.

Would catch bids on auctions that are not open, articles before their quote, and a skew that is none.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from thalweg import generators
from thalweg.generators.connections import PROTOCOLS
from thalweg.generators.draws import Draws


def ints(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    return np.asarray(table.column(column).cast(pa.int64()).to_numpy())


def test_draws_are_spread_evenly_and_apart() -> None:
    draws = Draws(1, np.arange(100_000))
    u, v = draws.uniform("u"), draws.uniform("v")
    assert abs(u.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(u, v)[0, 1]) < 0.02
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.02
    assert np.bincount(draws.below("b", 7)).tolist() == pytest.approx([100_000 / 7] * 7, rel=0.05)
    assert (draws.normal("n").std(), draws.normal("n").mean()) == pytest.approx((1.0, 0.0), abs=0.02)
    assert draws.exponential("e", 3.0).mean() == pytest.approx(3.0, rel=0.02)


@pytest.mark.parametrize("skew", [0.0, 0.8, 1.5])
def test_zipf_ranks_have_their_weights(skew: float) -> None:
    ranks = Draws(2, np.arange(200_000)).zipf("k", 50, skew)
    weights = np.arange(1, 51) ** -skew
    wanted = 200_000 * weights / weights.sum()
    assert np.bincount(ranks, minlength=50)[:10].tolist() == pytest.approx(wanted[:10].tolist(), rel=0.06)
    assert (ranks.min(), ranks.max()) == (0, 49)


def test_connections_have_the_protocols_and_the_skew_of_the_papers() -> None:
    table = generators.make("connections", seed=4, hosts=500).table(0, 50_000)
    seen = Counter(table.column("protocol").to_pylist())
    assert {p: n / 50_000 for p, n in seen.items()} == pytest.approx(
        {p: share for p, (share, *_) in PROTOCOLS.items()}, rel=0.1
    )
    assert 9 < (seen["telnet"] / seen["ftp"]) ** 2 < 11.5, "a self-join on telnet gives ten times the results"
    for column in ("src", "dst"):
        (_, most), *_ = Counter(table.column(column).to_pylist()).most_common()
        assert most > 20 * 50_000 / 500
    assert len(set(table.column("src").to_pylist()) & set(table.column("dst").to_pylist())) > 400
    assert set(table.column("link").to_pylist()) == {0, 1, 2, 3}
    size = table.column("bytes").to_numpy()
    assert size.min() >= 0
    assert size.mean() > 3 * np.median(size), "a long tail"


def test_nexmark_has_1_person_and_3_auctions_for_46_bids() -> None:
    rates = [generators.make(f"nexmark_{kind}", rate=50).rows_per_second for kind in ("person", "auction", "bid")]
    assert rates == pytest.approx([1, 3, 46])


@pytest.mark.parametrize("active", [1, 7, 100])
def test_nexmark_keys_refer_to_what_is_there(active: int) -> None:
    persons = generators.make("nexmark_person", seed=9).table(0, 400)
    auctions = generators.make("nexmark_auction", seed=9, active=active).table(0, 1_200)
    bids = generators.make("nexmark_bid", seed=9, active=active).table(0, 46 * 400)
    registered, opened, expires = ints(persons, "ts"), ints(auctions, "ts"), ints(auctions, "expires")
    assert ints(persons, "id").tolist() == list(range(400))
    assert ints(auctions, "id").tolist() == list(range(1_200))
    assert (registered[ints(auctions, "seller")] <= opened).all()
    assert (registered[ints(bids, "bidder")] <= ints(bids, "ts")).all()
    on = ints(bids, "auction")
    assert (opened[on] <= ints(bids, "ts")).all()
    assert (ints(bids, "ts") < expires[on]).all(), "the auction is still open"
    assert len(np.unique(on)) > (1_000 if active > 1 else 399)


def test_half_of_the_bids_go_to_an_auction_in_fashion() -> None:
    bids = generators.make("nexmark_bid", seed=9, hot=0.5).table(0, 46_000)
    (first, most), (_, _) = Counter(ints(bids, "auction").tolist()).most_common(2)
    assert first % 100 == 0
    assert most / (46 * 100 / 3) == pytest.approx(0.5, rel=0.15)


def test_articles_are_about_quotes_and_come_after_them() -> None:
    quotes = generators.make("quotes", seed=3).table(0, 500)
    articles = generators.make("articles", seed=3, articles_per_quote=10).table(0, 5_000)
    about = np.arange(5_000) // 10
    assert articles.column("symbol").equals(quotes.column("symbol").take(pa.array(about)))
    assert (ints(articles, "ts") > ints(quotes, "ts")[about]).all()
    sizes = pc.binary_length(articles.column("body")).to_numpy()
    assert 200 <= sizes.min() < 220 < 980 < sizes.max() <= 1_000


def test_prices_are_uniform_over_0_to_100_and_symbols_skewed() -> None:
    quotes = generators.make("quotes", seed=3).table(0, 50_000)
    price = quotes.column("price").to_numpy()
    assert 0 < price.min() < price.max() <= 100
    assert np.histogram(price, bins=5, range=(0, 100))[0].tolist() == pytest.approx([10_000] * 5, rel=0.05)
    (_, most), *_ = Counter(quotes.column("symbol").to_pylist()).most_common()
    assert most > 50 * 50_000 / 2_250
