"""Would catch rates that count rows which nobody sent, and changes that are not those of the query."""

from __future__ import annotations

import pytest

from thalweg_benchmarks.kernel.feeds import uniform
from thalweg_benchmarks.papers.experiment import FigureData, Scale
from thalweg_benchmarks.papers.scaling.running import AGGREGATE, DISTINCT, JOIN, Throughput, figure, throughput


def test_a_row_makes_as_many_results_as_it_has_partners() -> None:
    found = throughput(JOIN, uniform(20), 200, Scale(quick=True))
    assert found.changes == pytest.approx(10, rel=0.02)


def test_a_row_changes_a_group_when_it_comes_and_when_it_goes() -> None:
    assert 1.8 < throughput(AGGREGATE, uniform(1_000), 10_000, Scale(quick=True)).changes < 4.0
    assert throughput(DISTINCT, uniform(10), 10_000, Scale(quick=True)).changes < 0.01


def test_details_of_a_figure() -> None:
    paces = {"a": {10.0: Throughput(5.0, 0.25), 1_000.0: Throughput(6.0, 2.0)}}
    changes = {"changes of the answer for each row, a": "0.25 at 10, 2 at 1,000"}
    assert figure(paces) == FigureData({"a": {10.0: 5.0, 1_000.0: 6.0}}, changes)
    details = figure(paces, [8]).details
    assert len(details) == 2 and list(details.values())[1].endswith(" at 8")
