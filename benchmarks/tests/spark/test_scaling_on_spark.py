"""Would catch an experiment on Spark that does not run."""

from __future__ import annotations

from thalweg_benchmarks.papers import Scale, chosen, conduct


def test_rows_per_second_by_shards() -> None:
    (experiment,) = chosen("scale-shards")
    outcome = conduct(experiment, Scale(quick=True))
    assert [list(points) for points in outcome.series.values()] == [[1, 2]]
    assert all(rate > 0 for points in outcome.series.values() for rate in points.values())
