"""Would catch a benchmark of state that does not run, or whose strings repeat: then there is nothing to forget."""

from __future__ import annotations

import pytest

from thalweg_benchmarks.state import pools, restoring, windows
from thalweg_benchmarks.state.new_strings import LENGTH, strings


def test_strings_never_repeat() -> None:
    some = strings(-100, 1000).to_pylist()
    assert len(set(some)) == 1000 and {len(string) for string in some} == {LENGTH}
    assert strings(0, 900).to_pylist() == some[100:]


@pytest.mark.parametrize("name", windows.QUERIES)
def test_the_state_of_a_query_is_measured(name: str) -> None:
    query = windows.QUERIES[name].format(w=f"[RANGE {windows.WINDOW}]", n=windows.WINDOW)
    time, state, written = windows._measured(name, query, 100_000)
    assert time.ratio > 0 and 0 < written.ratio <= 1
    assert state.holds and state.detail["strings"] < 50_000


def test_a_pool_and_a_restore_are_timed() -> None:
    assert pools._ten_among(6_000) > 0
    restored, read, size = restoring._timed(restoring.BATCH, 100)
    assert restored > 0 and read >= 0 and size > 16 * restoring.BATCH
