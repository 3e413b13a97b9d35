"""Would catch an operator that stores more tuples than its update pattern needs."""

from __future__ import annotations

from thalweg_benchmarks.kernel import state_size


def test_no_operator_stores_more_than_it_should() -> None:
    results = list(state_size.run(window=30_000))
    assert len(results) == 2 * (1 + len(state_size.QUERIES))
    assert [result.as_dict() for result in results if not result.holds] == []
