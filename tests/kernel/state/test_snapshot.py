"""Would catch a snapshot that later changes reach, that cannot be restored twice, or that copies what is immutable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from thalweg.core.errors import SnapshotError
from thalweg.core.lanes import Ints
from thalweg.kernel.state.snapshot import Stateful, immutable, register
from thalweg.kernel.state.timeline import Timeline


@immutable("test-piece/1")
@dataclass(frozen=True)
class _Piece:
    values: Ints


class _Inner(Stateful, kind="test-inner/1"):
    KEPT = ("count",)

    def __init__(self) -> None:
        self.count = 0


class _Outer(Stateful, kind="test-outer/1"):
    KEPT = ("totals", "pieces", "inner", "maybe", "names")

    def __init__(self) -> None:
        self.totals = np.zeros(3, dtype=np.int64)
        self.pieces: list[_Piece] = []
        self.inner = _Inner()
        self.maybe: _Inner | None = None
        self.names: dict[str, int] = {}
        self.setting = "from the plan"


def test_arrays_changed_in_place_are_copied_when_saved_and_when_restored() -> None:
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


def test_a_class_without_a_kind_cannot_be_saved() -> None:
    class _Nameless(Stateful):
        pass

    with pytest.raises(TypeError, match="_Nameless has no kind and so cannot be saved: class _Nameless"):
        _Nameless().snapshot()


def test_a_kind_is_a_name_and_a_version_and_stands_for_one_class() -> None:
    with pytest.raises(TypeError, match='must be a name and a version, like "timeline/1"'):
        register("piece", _Piece)
    with pytest.raises(TypeError, match="_Outer cannot have the kind 'test-piece/1': _Piece has it"):
        register("test-piece/1", _Outer)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("hologram/1", "this version of Thalweg does not know that kind"), ("test-inner/2", "reads test-inner/1")],
)
def test_an_unknown_kind_is_refused_in_words(kind: str, said: str) -> None:
    outer = _Outer()
    outer.maybe = _Inner()
    tree = outer.snapshot()
    tree["maybe"]["<kind>"] = kind
    with pytest.raises(SnapshotError, match=said) as caught:
        _Outer().restore(tree)
    assert caught.value.hint is not None and "the version of Thalweg that wrote it" in caught.value.hint


def test_a_missing_field_is_refused_in_words() -> None:
    tree = _Outer().snapshot()
    del tree["totals"]
    with pytest.raises(SnapshotError, match="state of kind test-outer/1 lacks totals"):
        _Outer().restore(tree)
