"""Would catch a demo that shows nothing, or data that no longer comes from its generator."""

from __future__ import annotations

import re
import shlex

from cli.demo.demo_data import as_csv
from cli.run import lines, program
from thalweg.cli.demo.command import ROWS, SCRIPT


def test_the_data_is_what_the_generator_writes() -> None:
    assert ROWS.read_text() == as_csv()


def test_it_shows_the_queries_their_plans_and_eight_answers() -> None:
    shown = lines("demo")
    text = "\n".join(shown)
    assert text.startswith(SCRIPT.read_text().rstrip())
    assert "EXPLAIN top_talkers\n" in text
    assert "EXPLAIN silent_hosts\n" in text
    instants = [line.strip() for line in shown if re.fullmatch(r"2026-01-31 07:\d\d:\d\d", line.strip())]
    assert instants == [
        f"2026-01-31 07:0{m}:{s}" for m in range(5) for s in ("00", "30") if 30 <= m * 60 + int(s) <= 240
    ]
    assert any(line.startswith(" + ") for line in shown)
    assert any(line.startswith(" - ") for line in shown)


def test_the_last_line_can_be_typed_in() -> None:
    head, *command = shlex.split(lines("demo")[-1])
    assert (head, command[0]) == ("Next:", "thalweg")
    assert lines(*command[1:])[0].split() == ["t", "sign", "host"]


def test_a_terminal_gets_a_moving_picture() -> None:
    """On a terminal each picture wipes out the one before."""
    done = program("demo", "--delay", 0, FORCE_COLOR="1", TERM="xterm", NO_COLOR="")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\x1b[2K") > 7  # erase a line
