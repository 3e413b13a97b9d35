"""Would catch a `thalweg` that needs the benchmarks to start, or does not say how to get them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.run import SOURCES, refusal, thalweg
from thalweg.cli.bench import Benchmarks
from thalweg.cli.main import CommandGroup

ABSENT = CommandGroup("thalweg", commands=[Benchmarks("a_package_that_nobody_installs")])


@pytest.mark.parametrize("args", [[], ["--help"], ["kernel", "--json"]])
def test_without_the_package_the_error_says_how_to_get_it(args: list[str]) -> None:
    said = refusal("bench", *args, group=ABSENT)
    assert "thalweg-benchmarks, which is not installed here" in said
    assert "pip install -e benchmarks" in said and "make setup" in said


def test_the_command_is_listed_without_the_package() -> None:
    assert "  bench  " in thalweg("--help", group=ABSENT).stdout


def test_what_the_package_itself_misses_is_no_missing_package() -> None:
    def no_matplotlib(name: str) -> None:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    group = CommandGroup("thalweg", commands=[Benchmarks(import_=no_matplotlib)])
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        thalweg("bench", "kernel", group=group)


def test_thalweg_does_not_import_the_benchmarks() -> None:
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from thalweg.cli.main import main\n"
        "assert 'bench' in CliRunner().invoke(main, ['--help']).output\n"
        "print([name for name in sys.modules if name.startswith('thalweg_benchmarks')])\n"
    )
    path = {"PYTHONPATH": str(SOURCES)}
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
