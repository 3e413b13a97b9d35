"""Would catch a benchmark whose three joins do not do the same work."""

from __future__ import annotations

import numpy as np

from thalweg_benchmarks.kernel import count_joins
from thalweg_benchmarks.kernel.feeds import uniform, zipf
from thalweg_benchmarks.kernel.negative_tuple_join import LongList


def test_all_three_joins_produce_and_remove_the_same_results() -> None:
    few = count_joins.measure(uniform(3), window=100)
    assert 2_500 < few.results < 4_500 and few.sample == 10
    skewed = count_joins.measure(zipf(50), window=200)  # measure compares what they did
    assert min(skewed.ordered, skewed.probing, skewed.negative) > 0


def test_a_long_list_is_scanned_piece_by_piece() -> None:
    entries = LongList(np.arange(7), piece=2)
    entries.extend([8, 9])
    for gone in (9, 0, 8, 3):
        entries.remove(gone)
    assert sorted(entries._entries[: entries._count].tolist()) == [1, 2, 4, 5, 6]
