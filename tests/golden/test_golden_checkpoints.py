"""Would catch a checkpoint that an earlier version has written and this one cannot go on from, or goes on from wrongly.

Whoever changes a kind of state gives it a new version that reads the old one (docs/checkpoint-format.md).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from golden import engines, flows, queries, queued
from golden.archive import VERSION, files, objects_in, refused, unpack
from golden.listed import import_all
from golden.write import CASES
from thalweg.algebra.codec import digest, read_catalog
from thalweg.core.errors import SnapshotError
from thalweg.kernel.state.snapshot import kinds

GO_ON = {"query": queries.go_on, "queued": queued.go_on, "engine": engines.go_on, "flow": flows.go_on}
NOT_IN_CHECKPOINTS: dict[str, str] = {}  # kinds that no checkpoint can hold, with the reason


@pytest.mark.parametrize("file", files(), ids=lambda file: f"{file.parent.name}-{file.name.partition('.')[0]}")
def test_an_old_checkpoint_is_gone_on_from(file: Path, tmp_path: Path) -> None:
    case, checkpoint = unpack(file, tmp_path)
    GO_ON[case["of"]](case, checkpoint)


@pytest.mark.parametrize("file", refused(), ids=lambda file: f"{file.parent.name}-{file.name.partition('.')[0]}")
def test_a_checkpoint_with_pickles_is_refused_in_words(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, checkpoint = unpack(file, tmp_path)
    monkeypatch.setattr("pickle.loads", None)
    with pytest.raises(SnapshotError, match="an older version of Thalweg has pickled; they are not opened"):
        GO_ON[case["of"]](case, checkpoint)


def test_a_query_is_still_the_one_that_its_checkpoint_belongs_to(tmp_path: Path) -> None:
    for number, file in enumerate(files()):
        case, _ = unpack(file, tmp_path / str(number))
        if "cql" in case:
            plan = queries.planned(case["cql"], read_catalog(case["catalog"]), case["is_flat"])
            assert digest(plan) == case["digest"], case["name"]


def test_every_kind_of_state_is_in_a_golden_checkpoint(tmp_path: Path) -> None:
    import_all()
    ours = {kind for kind, cls in kinds().items() if cls.__module__.startswith("thalweg.")}
    found = {kind for n, file in enumerate(files()) for kind, _ in objects_in(unpack(file, tmp_path / str(n))[1])}
    missing = sorted(ours - found - NOT_IN_CHECKPOINTS.keys())
    assert not missing, "add cases that hold them to tests/golden/cases.py: PYTHONPATH=tests python -m golden.write"


def test_every_case_has_its_file() -> None:
    written = {file.name.partition(".")[0] for file in files() if file.parent.name == VERSION}
    assert written == set(CASES), "PYTHONPATH=tests python -m golden.write"


def test_golden_files_are_small() -> None:
    assert sum(file.stat().st_size for file in files()) < 1_000_000
