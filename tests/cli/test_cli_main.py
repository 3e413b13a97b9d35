"""Would catch help that helps nobody, a traceback where a message belongs, and colour where no terminal listens."""

from __future__ import annotations

from pathlib import Path

import pytest

import thalweg as tw
from cli.run import lines, program, thalweg
from thalweg.cli.main import main

SCRIPT = "CREATE STREAM s (a INT);\nREGISTER QUERY q AS SELECT a FROM s [ROWS 2];\n"


def test_version() -> None:
    assert lines("--version") == [f"thalweg, version {tw.__version__}"]


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_is_listed_and_explains_itself_with_examples(command: str) -> None:
    listed = [line for line in lines("--help") if line.split()[:1] == [command]]
    assert len(listed) == 1
    assert not listed[0].endswith("...")
    help_text = "\n".join(lines(command, "--help"))
    assert "Examples:\n" in help_text
    assert f"thalweg {command}" in help_text.split("Examples:\n")[1]


def test_help_fits_a_terminal() -> None:
    for command in ([], *([name] for name in main.commands)):
        assert all(len(line) <= 80 for line in lines(*command, "--help"))


def test_unknown_commands_and_options_are_refused() -> None:
    assert thalweg("expalin").exit_code == 2
    assert thalweg("explain", "--jsno", "x.cql").exit_code == 2


def test_an_unexpected_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("thalweg.cli.explain.read_script", fail)
    with pytest.raises(ZeroDivisionError):
        thalweg("explain", "x.cql")


@pytest.mark.slow
def test_as_a_program(tmp_path: Path) -> None:
    done = program("explain", "-", stdin=SCRIPT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == lines("explain", "-", stdin=SCRIPT)

    bad = tmp_path / "bad.cql"
    bad.write_text(SCRIPT.replace("FROM s", "FORM s"))
    failed = program("explain", bad)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("error: ")
    assert f"--> {bad}:2:" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.slow
def test_colour_only_where_it_is_wanted() -> None:
    """FORCE_COLOR makes rich believe in a terminal; NO_COLOR wins over it."""
    assert "\x1b[" in program("explain", "-", stdin=SCRIPT, FORCE_COLOR="1", TERM="xterm", NO_COLOR="").stdout
    plain = program("explain", "-", stdin=SCRIPT, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").stdout
    assert plain.splitlines() == lines("explain", "-", stdin=SCRIPT)
    assert "\x1b" not in plain
