"""Would catch an experiment that does not run, or whose claim reads a series that is not measured."""

from __future__ import annotations

import pytest

from thalweg_benchmarks.papers import EXPERIMENTS, Experiment, Scale, conduct

ON_SPARK = {"scale-shards"}  # tests/runtime/spark has those


@pytest.mark.parametrize("experiment", [e for e in EXPERIMENTS if e.id not in ON_SPARK], ids=lambda e: e.id)
def test_every_claim_finds_its_numbers(experiment: Experiment) -> None:
    outcome = conduct(experiment, Scale(quick=True))
    assert outcome.series and all(len(points) > 0 for points in outcome.series.values())
    assert [v.says for v in outcome.verdicts if "not measured" in v.seen or "not enough" in v.seen] == []
