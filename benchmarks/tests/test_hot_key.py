"""Would catch a benchmark that measures another process, or a join that counts wrongly."""

from __future__ import annotations

from thalweg_benchmarks.kernel import hot_key


def test_every_query_is_measured_in_a_process_of_its_own() -> None:
    results = list(hot_key.run(most=300))
    assert len(results) == len(hot_key.QUERIES)
    assert all(0.03 < result.ratio < 1 and result.detail["pairs"] >= 10_000 for result in results)
