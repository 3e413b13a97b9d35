"""Would catch a check of a checkpoint that overlooks a damaged file, or reports one that is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.run import thalweg
from faults.lives import FlowLife, Life, QueryLife

LIVES: dict[str, Callable[[Path], Life]] = {"query": QueryLife, "flow": FlowLife}


@pytest.fixture(params=LIVES)
def checkpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    LIVES[request.param](tmp_path / "a").go_on(6)
    return tmp_path / "a"


def files(checkpoint: Path) -> list[Path]:
    """Those that have contents of ours."""
    found = (path.relative_to(checkpoint) for path in checkpoint.rglob("*") if path.is_file())
    return sorted(p for p in found if p.parts[0] not in ("spark", "exchange") and not p.name.startswith("."))


def test_a_whole_checkpoint(checkpoint: Path) -> None:
    result = thalweg("state", str(checkpoint), "--check")
    assert result.exit_code == 0
    assert "files are whole" in result.output
    about = json.loads(thalweg("state", str(checkpoint), "--check", "--json").output)
    assert about["damaged"] == []
    assert about["bytes"] == sum((checkpoint / name).stat().st_size for name in files(checkpoint))


def test_every_damaged_file_is_found(checkpoint: Path, tmp_path: Path) -> None:
    for name in files(checkpoint):
        copy = tmp_path / "b"
        shutil.copytree(checkpoint, copy)
        path = copy / name
        content = path.read_bytes()
        path.write_bytes(
            content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
        )
        result = thalweg("state", str(copy), "--check")
        assert result.exit_code == 1, name
        assert path.name in result.output.replace("\n", ""), name
        shutil.rmtree(copy)


def test_files_that_must_be_there_are_missed(checkpoint: Path, tmp_path: Path) -> None:
    for name in files(checkpoint):
        if name.parts[0] == "state" or name.name == "layouts.json":
            copy = tmp_path / "b"
            shutil.copytree(checkpoint, copy)
            (copy / name).unlink()
            last = not name.name.startswith("manifest-") or name.name == "manifest-5.json"
            assert thalweg("state", str(copy), "--check").exit_code == int(last), name
            shutil.rmtree(copy)
