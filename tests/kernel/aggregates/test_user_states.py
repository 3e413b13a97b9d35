"""Would catch a state of a user's aggregate that comes back as another value, or that runs code when it is read."""

from __future__ import annotations

import pickle
from collections import Counter, deque
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.effort import examples
from thalweg.core.errors import SnapshotError
from thalweg.kernel.aggregates.user_states import read_states, written_states

KEYS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
STATES = st.recursive(
    KEYS | st.datetimes() | st.timedeltas() | st.floats(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS | st.tuples(KEYS), inner),
    max_leaves=10,
)


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


@examples(200)
@given(st.dictionaries(st.integers(0, 9), st.tuples(STATES, st.integers(1, 9))))
def test_states_come_back_as_they_were(states: dict[int, tuple[Any, int]]) -> None:
    assert same(read_states(written_states(states, "f"), "f"), states)


LARGE = 10**5_000
OF_NUMPY = [np.float64(0.1), np.int32(7), np.arange(6.0).reshape(2, 3), np.array(2.5)]


@pytest.mark.parametrize("state", [LARGE, -LARGE, *OF_NUMPY, datetime.now(UTC)], ids=list("abcdefg"))
def test_large_numbers_and_those_of_numpy_too(state: Any) -> None:
    ((again, count),) = read_states(written_states({3: (state, 2)}, "f"), "f").values()
    assert type(again) is type(state)
    assert np.array_equal(again, state)
    assert getattr(again, "dtype", None) == getattr(state, "dtype", None)
    assert count == 2


@pytest.mark.parametrize(
    ("state", "name"),
    [(Counter(), "Counter"), ({1}, "set"), ([deque()], "deque"), (Decimal(1), "Decimal"), (object(), "object"),
     ({"a": np.array(["x", None])}, "ndarray"), (timedelta, "type")],
)  # fmt: skip
def test_other_states_are_refused_with_the_aggregate_and_the_type(state: Any, name: str) -> None:
    with pytest.raises(SnapshotError, match=f"the aggregate f has a state with a {name}, which") as found:
        written_states({0: (state, 1)}, "f")
    assert "bytes, datetime" in str(found.value.hint)


def test_a_state_that_contains_itself_is_refused() -> None:
    state: list[Any] = []
    state.append(state)
    with pytest.raises(SnapshotError, match="contains itself"):
        written_states({0: (state, 1)}, "f")


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    crafted = pickle.dumps({0: (Bomb(tmp_path / "ran"), 1)})
    with pytest.raises(SnapshotError, match="states of the aggregate f cannot be read"):
        read_states(crafted, "f")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "text",
    [b"{", b"[1]", b'[[0, 1, {"numpy": ["|O", [1], "AAAA"]}]]', b'[[0, 1, {"numpy": ["<f8", [9], "AAAA"]}]]',
     b'[[0, 1, {"object": 1}]]', b'[[0, 1, {"dict": [[[], 1]]}]]', b'[[1e999, 1, 1]]', b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_state_is_refused_in_words(text: bytes) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        read_states(text, "f")
