"""Would catch a benchmark of flows in which the approaches do not do the same work, or that measures nothing."""

from __future__ import annotations

from thalweg_benchmarks.flows import niagara, scale, selections


def test_all_approaches_give_the_same_results() -> None:
    results = list(selections.run(queries=30, size=200))  # measure compares what they gave
    assert len(results) == 8 and all(result.ratio > 0 for result in results)
    assert results[0].ratio > 1.0 and results[0].detail["queries"] == 30


def test_memory_is_measured() -> None:
    (result,) = scale.run(queries=500)
    assert 500 < result.detail["bytes_per_query"] < 100_000
    assert result.detail["matches_per_tuple"] > 0


def test_three_plans_for_stocks_and_articles_agree() -> None:
    results = list(niagara.run(queries=(3,), costly=4, symbols=200))  # measure compares what they gave
    assert [result.case.rpartition(" ")[2] for result in results] == [
        "PullUp", "PushDown", *["PullUp"] * 7,
    ]  # fmt: skip
