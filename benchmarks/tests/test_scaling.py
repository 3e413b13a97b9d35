"""Would catch rates that count rows which nobody sent, and changes that are not those of the query."""

from __future__ import annotations

import pytest

from thalweg_benchmarks.kernel.feeds import uniform
from thalweg_benchmarks.papers.experiment import Measured, Scale
from thalweg_benchmarks.papers.scaling.running import AGGREGATE, DISTINCT, JOIN, Pace, measured, pace


def test_a_row_makes_as_many_results_as_it_has_partners() -> None:
    found = pace(JOIN, uniform(20), 200, Scale(quick=True))
    assert found.changes == pytest.approx(10, rel=0.02)


def test_a_row_changes_a_group_when_it_comes_and_when_it_goes() -> None:
    assert 1.8 < pace(AGGREGATE, uniform(1_000), 10_000, Scale(quick=True)).changes < 4.0
    assert pace(DISTINCT, uniform(10), 10_000, Scale(quick=True)).changes < 0.01


def test_what_is_told_of_them() -> None:
    paces = {"a": {10.0: Pace(5.0, 0.25), 1_000.0: Pace(6.0, 2.0)}}
    changes = {"changes of the answer for each row, a": "0.25 at 10, 2 at 1,000"}
    assert measured(paces) == Measured({"a": {10.0: 5.0, 1_000.0: 6.0}}, changes)
    told = measured(paces, [8]).details
    assert len(told) == 2 and list(told.values())[1].endswith(" at 8")
