"""Would catch a state of an older version that is read as if it were of this one, or cannot be read at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thalweg.core.errors import SnapshotError
from thalweg.core.lanes import Ints
from thalweg.kernel.state.snapshot import KIND, Stateful
from thalweg.kernel.state.upgrades import Fields, upgrade, upgraded
from thalweg.runtime.distributed.checkpoint.store import ShardStore


class _Counter(Stateful, kind="test-counter/3"):
    KEPT = ("counts", "unit")

    def __init__(self) -> None:
        self.counts: Ints = np.zeros(0, dtype=np.int64)
        self.unit = "rows"


@upgrade("test-counter/1", "test-counter/2")
def _as_array(old: Fields) -> Fields:
    return {"counts": np.array([old["count"]])}


@upgrade("test-counter/2", "test-counter/3")
def _with_unit(old: Fields) -> Fields:
    return old | {"unit": "tuples"}


def test_an_old_state_is_read_in_the_newest_version(tmp_path: Path) -> None:
    store = ShardStore(tmp_path)
    store.save(0, {"deep": [{"inside": {KIND: "test-counter/1", "count": 7}}]})
    tree = ShardStore(tmp_path).load(0)["deep"][0]["inside"]
    assert tree[KIND] == "test-counter/3"
    counter = _Counter()
    counter.restore(tree)
    assert (counter.counts.tolist(), counter.unit) == ([7], "tuples")


def test_what_is_new_stays_as_it_is() -> None:
    tree = _Counter().snapshot()
    assert upgraded(tree) is tree and upgraded({"a": 1}) == {"a": 1}


def test_another_version_is_not_taken_for_this_one() -> None:
    tree = _Counter().snapshot() | {KIND: "test-counter/4"}
    with pytest.raises(SnapshotError, match=r"expected state of kind test-counter/3, .* has test-counter/4"):
        _Counter().restore(tree)


def test_a_version_becomes_one_other_of_the_same_name() -> None:
    with pytest.raises(TypeError, match="test-counter/1 cannot become test-counter/5"):
        upgrade("test-counter/1", "test-counter/5")
    with pytest.raises(TypeError, match="test-counter/3 cannot become test-total/1"):
        upgrade("test-counter/3", "test-total/1")
