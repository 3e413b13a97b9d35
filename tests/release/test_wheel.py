"""Would catch a wheel that takes tests or benchmarks along, leaves a file out, or has no types."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import thalweg as tw
from release.wheel import SOURCE, complaints

ROOT = SOURCE.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_a_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    assert complaints(wheel) == []


def test_the_version_is_that_of_the_package(wheel: Path) -> None:
    assert wheel.name == f"thalweg-{tw.__version__}-py3-none-any.whl"


def test_what_does_not_belong_there_is_named(wheel: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / wheel.name
    shutil.copy(wheel, spoilt)
    with zipfile.ZipFile(spoilt, "a") as archive:
        archive.writestr("tests/test_a.py", "")
        archive.writestr("thalweg/bench/run.py", "")
    assert complaints(spoilt) == [
        "tests/test_a.py is not a file of the package", "thalweg/bench/run.py is not a file of the package",
        "tests/test_a.py belongs elsewhere", "thalweg/bench/run.py belongs elsewhere",
    ]  # fmt: skip
