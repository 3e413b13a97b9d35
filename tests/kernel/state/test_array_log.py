"""Would catch a change that is not saved, a snapshot that later changes reach, and a log that saves too much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.core.lanes import Lane
from thalweg.kernel.state.array_log import ArrayLog, SavedArray

VALUES: dict[np.dtype[Any], list[Any]] = {
    np.dtype(np.int64): [0, 1, 7, -(2**62)],
    np.dtype(np.float64): [0.0, -0.0, float("nan"), 1.5],
    np.dtype(np.bool_): [False, True],
}


def arrays_of(saved: SavedArray) -> list[Lane]:
    return [saved["base"], *(array for run in saved["runs"] for array in run)]


def same(some: Lane, other: Lane) -> bool:
    return some.dtype == other.dtype and some.shape == other.shape and some.tobytes() == other.tobytes()


@given(data=st.data(), dtype=st.sampled_from(list(VALUES)), lanes=st.sampled_from([None, 3]))
def test_every_snapshot_is_the_array_as_it_was(data: st.DataObject, dtype: np.dtype[Any], lanes: int | None) -> None:
    length = data.draw(st.sampled_from([0, 5, 400, 1000]))
    array: Lane = np.zeros(length if lanes is None else (length, lanes), dtype=dtype)
    log, kept = ArrayLog(), list[tuple[SavedArray, Lane]]()
    for _ in range(data.draw(st.integers(1, 12), label="snapshots")):
        if data.draw(st.integers(0, 5), label="grow") == 0:
            array = np.append(array, np.zeros((data.draw(st.sampled_from([3, 600])), *array.shape[1:]), dtype), axis=0)
        flat = array.reshape(-1)
        for place in data.draw(st.lists(st.integers(0, max(0, flat.size - 1)), max_size=40 if flat.size else 0)):
            flat[place] = data.draw(st.sampled_from(VALUES[dtype]))
        kept.append((log.save(array), array.copy()))
        if data.draw(st.booleans(), label="restart"):
            log, array = ArrayLog.read(kept[-1][0])
    for saved, wanted in kept:
        assert same(ArrayLog.read(saved)[1], wanted)


def test_what_has_not_changed_is_shared_also_after_a_restart() -> None:
    array = np.arange(10_000)
    log = ArrayLog()
    first = log.save(array)
    array[17] = -1
    second = log.save(array)
    assert second["base"] is first["base"] and len(second["runs"]) == 1
    again, _ = ArrayLog.read(second)
    assert [a is b for a, b in zip(arrays_of(again.save(array)), arrays_of(second), strict=True)] == [True] * 3


def test_as_much_is_saved_as_has_changed() -> None:
    rng = np.random.default_rng(7)
    array, log, seen, saved = np.zeros(100_000, dtype=np.int64), ArrayLog(), set[int](), 0
    kept = [log.save(array)]  # holds on to all arrays, so that an id means one array
    seen = {id(part) for part in arrays_of(kept[0])}
    for step in range(1, 200):
        array[rng.integers(0, len(array), 100)] = step
        kept.append(log.save(array))
        new = [part for part in arrays_of(kept[-1]) if id(part) not in seen]
        seen.update(map(id, new))
        saved += sum(part.size for part in new)
    changed = 199 * 100
    assert 2 * changed < saved < 2 * changed * np.log2(199)
    assert len(kept[-1]["runs"]) <= np.log2(199) + 1


def test_a_saved_array_cannot_be_written_to() -> None:
    array = np.zeros(1000, dtype=np.int64)
    log = ArrayLog()
    log.save(array)
    array[1] = 1
    for part in arrays_of(log.save(array)):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 5
