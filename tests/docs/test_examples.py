"""Would catch an example program that does not run, or says something else than it should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run import lines

ROOT = Path(__file__).parents[2]
NEXMARK = ROOT / "examples" / "nexmark"
INPUTS = [word for name in ("bid", "auction", "person") for word in ("--input", f"{name}={NEXMARK / name}.csv")]
ON_SPARK = {"sensors_on_spark.py"}  # tests/runtime/spark runs it

SAID = {
    "top_talkers.py": ["00:00:15", "+ 10.0.0.7", "changes; the answer is exact after each of them"],
    "fraud.py": ["09:07:00 + 1, Ulm, Rom", "09:05:00 - 1, 20, phone", "09:07:00 + 1, 900"],
    "currency_rates.py": [
        "day 11: [('north', 170.0), ('south', 57.5)]",
        "day 11: [('north', 160.0), ('south', 57.5)]",
        "day 31: booked [('north', 80.0), ('south', 57.5)]",
    ],
    "hundred_alerts.py": ["100 alerts, 36 have rung", "91 alerts; a new one begins with what the flow holds: [(501,)]"],
    "test_attacks.py": ["6 passed"],
}


def run(tmp_path: Path, *command: object) -> str:
    """What a program says, run in a folder of its own as a user would."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    args = [sys.executable, *map(str, command)]
    done = subprocess.run(args, cwd=tmp_path, env=env, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SAID)
def test_a_program_says_what_it_should(name: str, tmp_path: Path) -> None:
    path = ROOT / "examples" / name
    how = ["-m", "pytest", "-v", "-p", "no:cacheprovider"] if name.startswith("test_") else []
    said = run(tmp_path, *how, path)
    assert [piece for piece in SAID[name] if piece not in said] == []


def test_every_program_is_run_and_short() -> None:
    programs = {path.name: path.read_text() for path in (ROOT / "examples").glob("*.py")}
    assert programs.keys() == SAID.keys() | ON_SPARK
    assert [name for name, text in programs.items() if len(text.splitlines()) > 60 or text[:3] != '"""'] == []


def test_nexmark_over_recorded_rows() -> None:
    shown = lines("replay", NEXMARK / "queries.cql", "--show", "final", *INPUTS)
    answers = "\n".join(" ".join(line.split()) for line in shown).split("\n\n")
    said = {answer.partition(" at ")[0]: answer.splitlines()[2:] for answer in answers}
    bids = [int(line.split(",")[1]) for line in (NEXMARK / "bid.csv").read_text().splitlines()[1:]]
    assert len(said["in_euros"]) == len(bids) > 0
    assert len(said["some_items"]) == sum(auction % 4 == 0 for auction in bids)
    assert "1 0 2.37" in said["in_euros"] and "0 20776" in said["some_items"]
    assert said["local_sellers"] == ["Ben Jung Phoenix kettle 10", "Ben Jung Phoenix violin 2"]
    assert (said["hot_items"], said["highest_bid"]) == (["5 44"], ["901484"])
    assert len(said["new_sellers"]) == 12
