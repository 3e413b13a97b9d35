"""Would catch statistics that a sample does not support."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from thalweg.optimizer.statistics import sampled_distinct, sampled_stream, sampled_table


def test_a_stream_has_a_rate_and_values() -> None:
    times = np.arange(0, 1000, 2)
    found = sampled_stream(pa.table({"a": times % 10, "b": times}), times)
    assert found.rate == pytest.approx(0.5, rel=0.01)
    assert found.distinct == {"a": 5, "b": 500}
    assert found.origin == "sampled"


def test_a_stream_of_one_instant_has_no_rate() -> None:
    assert sampled_stream(pa.table({"a": [1, 2]}), np.array([3, 3])).rate is None
    assert sampled_stream(pa.table({"a": pa.array([], pa.int64())}), np.array([], dtype=np.int64)).rate is None


@pytest.mark.parametrize("values", [20, 200, 2000])
def test_values_that_a_sample_has_not_seen_are_expected(values: int) -> None:
    draw = np.random.default_rng(3)
    sample = pa.chunked_array([draw.integers(0, values, 1000)])
    assert sampled_distinct(sample, 100_000) == pytest.approx(values, rel=0.25)


def test_there_are_no_more_values_than_rows() -> None:
    assert sampled_table(pa.table({"a": list(range(10))}), 12).distinct == {"a": 12}
    assert sampled_distinct(pa.chunked_array([pa.nulls(5, pa.int64())]), 5) == 1
