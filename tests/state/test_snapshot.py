"""Would catch a snapshot that later changes reach, that cannot be restored twice, or that copies what is immutable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from thalweg.core.lanes import Ints
from thalweg.state.snapshot import Stateful, immutable
from thalweg.state.timeline import Timeline


@immutable
@dataclass(frozen=True)
class _Piece:
    values: Ints


class _Inner(Stateful):
    KEPT = ("count",)

    def __init__(self) -> None:
        self.count = 0


class _Outer(Stateful):
    KEPT = ("totals", "pieces", "inner", "maybe", "names")

    def __init__(self) -> None:
        self.totals = np.zeros(3, dtype=np.int64)
        self.pieces: list[_Piece] = []
        self.inner = _Inner()
        self.maybe: _Inner | None = None
        self.names: dict[str, int] = {}
        self.setting = "from the plan"


def test_arrays_changed_in_place_are_copied_both_ways() -> None:
    outer = _Outer()
    tree = outer.snapshot()
    outer.totals[0] = 7
    other = _Outer()
    other.restore(tree)
    assert other.totals.tolist() == [0, 0, 0]
    other.totals[1] = 5
    again = _Outer()
    again.restore(tree)
    assert again.totals.tolist() == [0, 0, 0]


def test_immutable_pieces_are_shared() -> None:
    outer = _Outer()
    outer.pieces.append(_Piece(np.arange(3)))
    tree = outer.snapshot()
    outer.pieces.clear()
    other = _Outer()
    other.restore(tree)
    assert other.pieces[0].values is tree["pieces"][0]["values"]
    assert other.pieces[0].values.tolist() == [0, 1, 2]


def test_parts_are_restored_in_place_or_made_anew() -> None:
    outer = _Outer()
    outer.inner.count, outer.maybe, outer.names = 3, _Inner(), {"a": 1}
    outer.maybe.count = 4
    other = _Outer()
    inner = other.inner
    other.restore(outer.snapshot())
    assert other.inner is inner and inner.count == 3
    assert other.maybe is not None and other.maybe.count == 4
    assert other.names == {"a": 1} and other.setting == "from the plan"


def test_what_is_no_plain_state_is_refused() -> None:
    outer = _Outer()
    outer.names = {"a": object()}  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="object cannot be part of a snapshot"):
        outer.snapshot()


def test_a_timeline_shares_its_runs_with_its_snapshots() -> None:
    timeline = Timeline()
    timeline.add(np.array([3, 1, 2]), np.array([30, 10, 20]))
    timeline.due(1)
    tree = timeline.snapshot()
    later = timeline.snapshot()
    assert all(a is b for a, b in zip(tree["_runs"][0], later["_runs"][0], strict=True))
    timeline.due(3)
    other = Timeline()
    other.restore(tree)
    due = other.due(3)
    assert len(other) == 0 and due is not None and due[1].tolist() == [20, 30]
