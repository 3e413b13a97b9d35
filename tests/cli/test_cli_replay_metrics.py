"""Would catch metrics that are missing, wrong or unreadable, and a strategy that is not used."""

from __future__ import annotations

import json
from pathlib import Path

from cli.run import thalweg

SCRIPT = """\
CREATE STREAM s (a INT);
REGISTER QUERY n AS SELECT COUNT(*) AS n FROM s [RANGE 2] WHERE a > 0;
"""


def replayed(tmp_path: Path, *options: str) -> tuple[str, str]:
    (tmp_path / "q.cql").write_text(SCRIPT)
    (tmp_path / "s.csv").write_text("ts,a\n1,1\n2,0\n3,5\n")
    result = thalweg("replay", tmp_path / "q.cql", "--input", f"s={tmp_path / 's.csv'}", "--until", 9, *options)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_metrics_are_a_table_on_standard_error(tmp_path: Path) -> None:
    plain, _ = replayed(tmp_path)
    out, err = replayed(tmp_path, "--metrics")
    assert out == plain
    header, *rows = [line.split() for line in err.splitlines()[1:-1]]
    assert header[:1] == ["operator"]
    counts = {row[0] if row[0] != "source" else "source s": row for row in rows}
    assert counts["Select"][2:6] == ["3", "0", "2", "0"]
    assert "output delay in ticks over" in err


def test_metrics_for_programs(tmp_path: Path) -> None:
    _, err = replayed(tmp_path, "--metrics", "--format", "jsonl", "--strategy", "nta")
    *operators, answer = [json.loads(line) for line in err.splitlines()]
    (expire,) = [o for o in operators if o["operator"] == "Expire"]
    assert (expire["query"], expire["positive_out"], expire["negative_out"]) == ("n", 2, 2)
    assert answer["operator"] == "answer" and answer["delay"]["maximum"] == 0


def test_every_strategy_replays_alike(tmp_path: Path) -> None:
    plain, _ = replayed(tmp_path)
    for strategy in ("nt", "direct", "nta", "time-message", "piggyback", "reference"):
        assert replayed(tmp_path, "--strategy", strategy)[0] == plain
