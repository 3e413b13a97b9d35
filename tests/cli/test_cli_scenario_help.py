"""Would catch a help text whose scenario is not one."""

from __future__ import annotations

from pathlib import Path

from cli.run import lines, refusal, thalweg


def test_the_scenario_in_the_help_passes(tmp_path: Path) -> None:
    shown = thalweg("scenario", "--help").stdout.partition("  == cql")[2].partition("\n\n")[0]
    explained = ("a row arrives", "table, @", "indented below", "nothing below")
    text = "\n".join(line[4:] for line in f"    == cql{shown}".splitlines())
    for words in explained:
        assert words in text
        text = "\n".join(line.partition(f"  {words}")[0] for line in text.splitlines())
    (tmp_path / "help.scenario").write_text(text + "\n")
    assert lines("scenario", tmp_path / "help.scenario")[-1] == "1 passed, 0 failed"


def test_a_scenario_that_is_not_utf8_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "a.scenario").write_bytes(b"== cql\n-- \xff\xfe\n")
    said = refusal("scenario", tmp_path / "a.scenario")
    assert said.startswith(f"error: cannot read {tmp_path / 'a.scenario'}: ") and "utf-8" in said
