"""The command line, called in this process or as a program of its own."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from thalweg.cli.main import main

SOURCES = Path(__file__).parents[2] / "src"

# click 8.1 mixes standard error into standard output unless asked not to; later versions never do.
_APART: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def thalweg(*args: object, stdin: str | None = None, group: click.Group = main, obj: object = None) -> Result:
    """Run a command; an error that is not meant for users fails the test. `obj` is for commands that take one."""
    words = [str(arg) for arg in args]
    result = CliRunner(**_APART).invoke(group, words, input=stdin, prog_name="thalweg", obj=obj)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def lines(*args: object, stdin: str | None = None) -> list[str]:
    """The lines that a command prints when all goes well."""
    result = thalweg(*args, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def refusal(*args: object, stdin: str | None = None, group: click.Group = main) -> str:
    """What a command says on standard error when it refuses; nothing else is printed."""
    result = thalweg(*args, stdin=stdin, group=group)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr


def program(*args: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m thalweg` in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONIOENCODING": "utf-8", **environment}
    command = [sys.executable, "-m", "thalweg", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", env=env, check=False)
